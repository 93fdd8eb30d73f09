"""Standard times and figures against them."""

from datetime import date
from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.speed_figures import (
    StandardTimes,
    learn_standard_times,
    run_seconds,
)
from tests.apps.keiba.domain.runs import RACE_DAY, form, run


def test_a_second_in_a_hundred_is_about_ten_points() -> None:
    standards = StandardTimes()
    usual, faster = run(time_seconds=Decimal(100)), run(time_seconds=Decimal(99))

    figures = [standards.figure(each) for each in (usual, faster)]

    assert figures[0] is not None
    assert figures[1] is not None
    assert figures[1] - figures[0] == pytest.approx(10, abs=0.1)


def test_a_slow_track_is_learnt_so_that_figures_of_both_tracks_agree() -> None:
    horses = [
        form(
            f"20231{number:05}",
            [
                run(days_ago=7 * number + 7, track="東京", time_seconds=Decimal("95.5")),
                run(days_ago=7 * number + 8, track="福島", time_seconds=Decimal("97.5")),
            ],
        )
        for number in range(40)
    ]

    standards = learn_standard_times(horses, before=RACE_DAY)

    fast, slow = (standards.figure(each) for each in horses[3].recent_results)
    assert fast == pytest.approx(slow, abs=1)


def test_heavy_ground_is_learnt() -> None:
    horses = [
        form(
            f"20231{number:05}",
            [
                run(days_ago=7 * number + 7, time_seconds=Decimal("95.5")),
                run(days_ago=7 * number + 300, going="soft", time_seconds=Decimal("98.5")),
            ],
        )
        for number in range(40)
    ]

    standards = learn_standard_times(horses, before=RACE_DAY)

    dry, wet = (standards.figure(each) for each in horses[3].recent_results)
    assert dry == pytest.approx(wet, abs=4)


def test_better_horses_do_not_make_their_track_look_fast() -> None:
    good = [
        form(
            f"20231{number:05}",
            [
                run(days_ago=7 * number + week, track=track, time_seconds=Decimal("94.5"))
                for week, track in enumerate(["東京", "東京", "東京", "中山"], start=1)
            ],
        )
        for number in range(40)
    ]
    plain = [
        form(
            f"20232{number:05}",
            [
                run(days_ago=7 * number + week, track=track, time_seconds=Decimal("96.5"))
                for week, track in enumerate(["中山", "中山", "中山", "東京"], start=1)
            ],
        )
        for number in range(40)
    ]

    standards = learn_standard_times([*good, *plain], before=RACE_DAY)

    tokyo, nakayama = (
        standards.courses["東京", "turf", 1600],
        standards.courses["中山", "turf", 1600],
    )
    assert 1000 * abs(tokyo - nakayama) < 5


def test_runs_of_the_race_day_and_later_teach_nothing() -> None:
    later = form("2023100001", [run(days_ago=0), run(days_ago=-7)])

    assert learn_standard_times([later], before=RACE_DAY) == StandardTimes()


def test_times_are_read_from_their_writing_where_there_is_no_number() -> None:
    written = run(time_seconds=None, time="1:35.5")
    short = run(time_seconds=None, time="59.8")

    assert (run_seconds(written), run_seconds(short)) == (95.5, 59.8)


@pytest.mark.parametrize("time", [None, "", "計時不能", "1:75"])
def test_a_run_without_a_time_has_no_figure(time: str | None) -> None:
    untimed = run(time_seconds=None, time=time)

    assert StandardTimes().figure(untimed) is None


def test_a_run_on_an_unknown_course_has_no_figure() -> None:
    assert StandardTimes().figure(run(distance=None)) is None
    assert StandardTimes().figure(run(track_type=None)) is None


def test_a_race_run_slowly_by_all_is_told_from_the_winners_time() -> None:
    usual = [run(days_ago=70 + n, race_id=f"2026050101{n:02}", margin="0.5") for n in range(20)]
    slow = run(days_ago=40, race_id="202605020101", margin="0.5", time_seconds=Decimal("98.5"))
    alone = run(days_ago=40, race_id="202605020101", time_seconds=Decimal("98.5"))

    known = learn_standard_times([form("2023100001", [slow, *usual])], before=RACE_DAY).figure(slow)
    unknown = learn_standard_times([form("2023100001", [alone, *usual])], before=RACE_DAY).figure(
        alone
    )

    assert known is not None
    assert unknown is not None
    assert unknown < known < 0


def test_an_unknown_track_stands_on_what_is_known_of_its_surface() -> None:
    slow = form(
        "2023100001", [run(days_ago=n, time_seconds=Decimal("100.5")) for n in range(1, 50)]
    )
    elsewhere = run(run_on=date(2026, 1, 4), track="メイダン", time_seconds=Decimal("100.5"))

    learnt = learn_standard_times([slow], before=RACE_DAY).figure(elsewhere)
    bare = StandardTimes().figure(elsewhere)

    assert learnt is not None
    assert bare is not None
    assert abs(learnt) < abs(bare)
