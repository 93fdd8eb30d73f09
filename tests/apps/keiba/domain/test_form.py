"""Figures of a runner, always against the race date."""

import math
from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.form import (
    Background,
    Entry,
    Figures,
    Record,
    WeightedMean,
    compute_figures,
    learn_background,
)
from grandstand.apps.keiba.domain.horses import (
    JockeyFigures,
    JockeyRecord,
    Parent,
    Parents,
    PastRun,
)
from grandstand.apps.keiba.domain.races import RaceCard
from tests.apps.keiba.domain.runs import RACE_DAY, card, form, run, runner

_NOTHING = Background()


def _figures(*runs: PastRun, race: RaceCard | None = None) -> Figures:
    entry = Entry(runner(), form("2023100001", runs))
    return compute_figures(entry, race or card(), _NOTHING, on=RACE_DAY)


def _value(mean: WeightedMean | None) -> float:
    assert mean is not None
    return mean.value


def test_days_are_counted_to_the_race_and_not_to_today() -> None:
    found = _figures(run(days_ago=21), run(days_ago=49))

    assert found.days_since_last_run == 21


def test_runs_of_the_race_day_and_later_do_not_exist_yet() -> None:
    known = _figures(run(days_ago=21))

    found = _figures(run(days_ago=-7, position=1), run(days_ago=0, position=1), run(days_ago=21))

    assert found == known


def test_runs_may_come_in_any_order() -> None:
    runs = [run(days_ago=ago, time_seconds=Decimal(90 + ago)) for ago in (5, 4, 3, 2)]

    assert _figures(*runs) == _figures(*reversed(runs))


def test_a_horse_that_never_ran_has_nothing_but_its_name() -> None:
    found = _figures()

    assert (found.runs, found.days_since_last_run, found.speed) == (0, None, None)
    assert (found.career, found.finishing, found.class_move) == (Record(), None, None)


def test_a_horse_whose_form_could_not_be_had_is_like_one_that_never_ran() -> None:
    absent = compute_figures(Entry(runner()), card(), _NOTHING, on=RACE_DAY)

    assert absent == _figures()


def test_records_count_the_runs_like_this_race() -> None:
    found = _figures(
        run(position=1),
        run(position=2, distance=1700, track="中山"),
        run(position=3, distance=2400, going="soft"),
        run(position=4, track_type="dirt", going="good"),
        run(position=None, outcome="stopped"),
        run(position=None, outcome="withdrawn"),
    )

    assert found.career == Record(starts=5, wins=1, top2=2, top3=3)
    assert found.at_distance == Record(starts=4, wins=1, top2=2, top3=2)
    assert found.on_course == Record(starts=4, wins=1, top2=1, top3=2)
    assert found.on_going == Record(starts=4, wins=1, top2=2, top3=2)
    assert found.on_surface == Record(starts=4, wins=1, top2=2, top3=3)


def test_later_runs_count_more() -> None:
    fast, slow = Decimal(94), Decimal(97)

    improving = _figures(run(14, time_seconds=fast), run(400, time_seconds=slow)).speed
    declining = _figures(run(14, time_seconds=slow), run(400, time_seconds=fast)).speed

    assert improving is not None
    assert declining is not None
    assert improving.value > declining.value


def test_speed_over_jumps_says_nothing_of_the_flat() -> None:
    found = _figures(run(track_type="jump", distance=3000, time_seconds=Decimal(200)))

    assert found.speed is None
    assert found.runs == 1


def test_speed_on_the_other_surface_counts_less() -> None:
    turf, dirt = _figures(run()).speed, _figures(run(track_type="dirt")).speed

    assert turf is not None
    assert dirt is not None
    assert 0 < dirt.weight < turf.weight


def test_the_trend_is_the_last_run_against_those_before() -> None:
    rising = _figures(
        run(10, time_seconds=Decimal(94)),
        run(30, time_seconds=Decimal(96)),
        run(50, time_seconds=Decimal(96)),
    )

    assert rising.trend is not None
    assert rising.trend.value == pytest.approx(1000 * math.log(96 / 94))
    assert _figures(run(10), run(30)).trend is None


def test_a_horse_better_over_short_distances_gains_over_one() -> None:
    runs = [
        each
        for ago in (28, 56, 84, 112)
        for each in (
            run(ago, distance=1200, time_seconds=Decimal("68.0")),
            run(ago, distance=2400, time_seconds=Decimal("154.0")),
        )
    ]

    short = _figures(*runs, race=card(distance=1200))
    between = _figures(*runs, race=card(distance=1700))
    long = _figures(*runs, race=card(distance=2400))

    assert _value(short.distance_gain) > 5
    assert _value(between.distance_gain) == pytest.approx(0, abs=1)
    assert _value(long.distance_gain) < -5


def test_a_gain_needs_contrast() -> None:
    found = _figures(run(28), run(56), race=card(distance=2400, track_type="dirt"))

    assert _value(found.distance_gain) == pytest.approx(0)
    assert _value(found.surface_gain) == pytest.approx(0)


def test_more_contrast_is_believed_more() -> None:
    dirt = run(28, track_type="dirt", time_seconds=Decimal("102.0"))

    little, much = _figures(run(28), dirt), _figures(*[run(28), dirt] * 5)

    assert _value(much.surface_gain) > _value(little.surface_gain) > 0


def test_soft_ground_counts_in_steps() -> None:
    dry, wet = Decimal("97.0"), Decimal("95.0")
    runs = [run(28, going="firm", time_seconds=dry), run(28, going="soft", time_seconds=wet)] * 8

    softer, firmer = _figures(*runs, race=card(going="soft")), _figures(*runs)

    assert _value(softer.going_gain) == pytest.approx(-_value(firmer.going_gain))
    assert _value(softer.going_gain) > 0


def test_finishing_is_the_share_of_rivals_beaten() -> None:
    found = _figures(
        run(position=1, runner_count=9), run(position=9, runner_count=9), run(position=None)
    )

    assert _value(found.finishing) == pytest.approx(0.5)


def test_a_move_in_class_is_counted_in_steps_up() -> None:
    found = _figures(
        run(race_name="3歳未勝利"), run(race_name="2歳新馬"), race=card(race_class="1勝クラス")
    )

    assert _value(found.class_move) == pytest.approx(1.5)


def test_weight_is_compared_with_what_was_carried() -> None:
    carried = form("2023100001", [run(carried_weight=Decimal(55)), run(carried_weight=Decimal(56))])
    entry = Entry(runner(carried_weight=Decimal("57.5"), body_weight_change=-6), carried)

    found = compute_figures(entry, card(), _NOTHING, on=RACE_DAY)

    assert _value(found.carried_change) == pytest.approx(2)
    assert found.body_weight_change == -6


def test_a_jockey_is_known_by_the_latest_years_on_the_page() -> None:
    career = JockeyFigures(wins=100, seconds=100, thirds=100, total_races=3_000)
    recent = JockeyFigures(wins=20, seconds=10, thirds=10, total_races=100)
    entry = Entry(runner(jockey_id="01157"), jockey=JockeyRecord("01157", "某", career, recent))

    found = compute_figures(entry, card(), _NOTHING, on=RACE_DAY)

    assert found.jockey == WeightedMean(0.4, 100.0)


def test_a_jockeys_record_on_the_course_comes_from_all_runs_seen() -> None:
    others = [
        form("2023100002", [run(7, jockey_id="01157", position=1)]),
        form("2023100003", [run(8, jockey_id="01157", position=9)]),
        form("2023100004", [run(9, jockey_id="01157", track="中山", position=9)]),
        form("2023100005", [run(-1, jockey_id="01157", position=1)]),
    ]
    background = learn_background(others, before=RACE_DAY)

    found = compute_figures(Entry(runner(jockey_id="01157")), card(), background, on=RACE_DAY)

    assert found.jockey_on_course == Record(starts=2, wins=1, top2=1, top3=1)
    assert found.jockey == WeightedMean(1 / 3, 3.0)
    assert found.jockey_gain == WeightedMean(1 / 2 - 1 / 3, 2.0)


def test_a_sire_is_known_by_its_offspring_on_the_surface() -> None:
    offspring = [
        form("2022100001", [run(7, position=1), run(9, track_type="dirt", position=1)]),
        form("2022100002", [run(8, position=9)]),
        form("2022100003", [run(8, position=1)]),
    ]
    parents = [
        Parents(horse, Parent(id=sire), Parent())
        for horse, sire in (("2022100001", "s1"), ("2022100002", "s1"), ("2022100003", "s2"))
    ]
    background = learn_background(offspring, before=RACE_DAY, parents=parents)
    entry = Entry(runner(), parents=Parents("2023100001", Parent(id="s1"), Parent()))

    found = compute_figures(entry, card(), background, on=RACE_DAY)

    assert found.sire == Record(starts=2, wins=1, top2=1, top3=1)


def test_unknown_circumstances_are_shared_with_nobody() -> None:
    bare = RaceCard(race_id="202605050611", race_name="秋風賞", horses=())

    found = _figures(run(), race=bare)

    assert (found.at_distance, found.on_surface, found.on_going) == (Record(),) * 3
    assert found.distance_gain is None


def test_the_day_of_the_race_decides_what_is_known() -> None:
    entry = Entry(runner(), form("2023100001", [run(days_ago=20), run(days_ago=60)]))

    then = compute_figures(entry, card(), _NOTHING, on=RACE_DAY - timedelta(days=30))

    assert (then.runs, then.days_since_last_run) == (1, 30)
