"""A match has a clock: toss, balls, breaks, rain, days, and an end."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest

from grandstand.simulators.scores.matches import (
    find_timeline_config,
    generate_match,
    read_recorded_match,
)
from grandstand.simulators.scores.timeline import (
    Interruption,
    TimelineConfig,
    build_timeline,
    random_corrections,
)


def statuses(number: int) -> list[str]:
    """The statuses of a real match, one after the other."""
    moments = build_timeline(
        read_recorded_match(number), find_timeline_config(number) or TimelineConfig()
    ).moments
    return [status for status, _ in groupby(moment.status for moment in moments)]


def test_a_limited_match_has_two_innings_and_a_break() -> None:
    assert statuses(1001349) == ["NS", "1st Innings", "Innings Break", "2nd Innings", "Finished"]


def test_rain_stops_play_and_sets_another_target() -> None:
    moments = build_timeline(
        read_recorded_match(1370353), find_timeline_config(1370353) or TimelineConfig()
    ).moments

    assert statuses(1370353)[3:] == ["2nd Innings", "Int.", "2nd Innings", "Finished"]
    assert moments[-1].target == 215
    assert (moments[-1].revised_target, moments[-1].revised_overs) == (171, 15)


def test_rain_before_the_start_is_a_delay_and_may_end_it_all() -> None:
    assert statuses(1178424) == [
        *("NS", "Delayed", "1st Innings", "Innings Break", "2nd Innings", "Int.", "Finished"),
    ]


def test_a_test_has_sessions_and_days() -> None:
    found = statuses(1000853)

    assert found[:4] == ["NS", "1st Innings", "Lunch", "1st Innings"]
    assert [each for each in found if each.startswith("Stump")] == ["Stump Day 1", "Stump Day 2"]
    assert found.count("Tea Break") == 2
    assert found[-2:] == ["3rd Innings", "Finished"]


def test_a_day_begins_a_day_after_the_one_before() -> None:
    written = build_timeline(read_recorded_match(1000853), TimelineConfig())

    night = next(
        place for place, each in enumerate(written.moments) if each.status == "Stump Day 1"
    )

    assert written.moments[night + 1].at == 86_400
    assert written.moments[night + 1].status == "2nd Innings"


def test_the_innings_break_lasts_as_long_as_thirty_balls() -> None:
    moments = build_timeline(read_recorded_match(1001349), TimelineConfig()).moments

    (begun,) = [place for place, each in enumerate(moments) if each.status == "Innings Break"]

    assert moments[begun + 1].at - moments[begun].at == 20 * 60


def test_time_never_goes_back_and_every_ball_is_posted_once() -> None:
    record = read_recorded_match(1370353)

    written = build_timeline(
        record, find_timeline_config(1370353) or TimelineConfig(), random_corrections(record, 1)
    )

    starts = [each.at for each in written.moments]
    shown = [each.shown for each in written.moments]
    assert starts == sorted(starts)
    assert sorted(set(shown)) == [*range(len(record.deliveries) + 1)]
    assert shown == sorted(shown)


def test_a_ball_posted_wrong_is_put_right_within_ten_seconds() -> None:
    record = read_recorded_match(1001349)

    moments = build_timeline(record, TimelineConfig(), random_corrections(record, 1)).moments

    pairs = [(now, after) for now, after in pairwise(moments) if now.correction]
    assert len(pairs) > 20
    assert {after.at - now.at for now, after in pairs} == {10}
    assert {(after.shown - now.shown, after.correction) for now, after in pairs} == {(0, None)}


def test_what_is_known_holds_until_the_next_moment() -> None:
    written = build_timeline(read_recorded_match(1001349), TimelineConfig())

    assert written.at(-90_000).status == "NS"
    assert not written.at(-1801).tossed
    assert written.at(-1800).tossed
    assert (written.at(79.9).shown, written.at(80).shown) == (1, 2)
    assert written.at(10**9).ended


@pytest.mark.parametrize(("ball", "second"), [(0, 0), (1, 40), (125, 5000), (126, 6280)])
def test_a_ball_has_its_second(ball: int, second: float) -> None:
    assert build_timeline(read_recorded_match(1001349), TimelineConfig()).second_of(ball) == second


def test_seeking_beyond_the_last_ball_finds_the_last() -> None:
    written = build_timeline(read_recorded_match(1001349), TimelineConfig())

    assert written.second_of(10_000) == written.second_of(250)


def test_super_overs_come_after_the_match() -> None:
    record = generate_match(1, "T20", tie=True)

    moments = build_timeline(record, TimelineConfig()).moments

    first = next(each for each in moments if each.super_over)
    assert first.status == "Innings Break"
    assert first.shown == sum(len(each.deliveries) for each in record.innings[:2])
    assert {each.status for each in moments if each.inning == 3} >= {"3rd Innings"}


def test_a_target_may_be_given_by_the_file_alone() -> None:
    record = read_recorded_match(1370353)

    moments = build_timeline(record, TimelineConfig()).moments

    (found,) = {(each.revised_target, each.revised_overs) for each in moments if each.inning == 2}
    assert found == (171, 15)


def test_rain_between_innings_is_an_interruption() -> None:
    rain = TimelineConfig(
        interruptions=(Interruption(inning=2, balls=0, minutes=30, overs=10, target=90),)
    )

    moments = build_timeline(read_recorded_match(1001349), rain).moments

    stopped = [each for each in moments if each.status == "Int."]
    assert {each.shown for each in stopped} == {125}
    assert stopped[-1].revised_target == 90
