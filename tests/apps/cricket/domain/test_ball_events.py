"""What single balls tell, however few or many are heard at once."""

import pytest

from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.domain.watcher import Watch, kinds


@pytest.fixture
def scorer() -> Scorer:
    return Scorer(status="1st Innings")


@pytest.fixture
def watch(scorer: Scorer) -> Watch:
    made = Watch()
    made.look(scorer.fixture())
    return made


def test_three_credited_wickets_in_a_row_are_a_hat_trick_across_overs(
    scorer: Scorer, watch: Watch
) -> None:
    _dots(scorer, 4)
    scorer.out(then=13)
    scorer.out(then=14)
    watch.look(scorer.fixture())
    _dots(scorer, 6, by=22)
    watch.look(scorer.fixture())
    last = scorer.out(then=15)

    tick = watch.look(scorer.fixture())

    assert tick.key_event is not None
    assert (tick.key_event.kind, tick.key_event.ball_id) == ("hattrick", last.id)
    assert [event.kind for event in watch.events].count("on_hattrick") == 1


def test_a_run_out_ends_a_row_of_wickets(scorer: Scorer, watch: Watch) -> None:
    scorer.out(then=13)
    scorer.out(then=14, credited=False)
    scorer.out(then=15)

    tick = watch.look(scorer.fixture())

    assert kinds(tick).count("wicket") == 3
    assert {"hattrick", "on_hattrick"}.isdisjoint(kinds(tick))


def test_a_hat_trick_in_one_look_leaves_the_bowler_on_none(scorer: Scorer, watch: Watch) -> None:
    scorer.out(then=13)
    scorer.out(then=14)
    scorer.out(then=15)

    tick = watch.look(scorer.fixture())

    reasons = {event.kind: event.filtered for event in tick.events}
    assert reasons["hattrick"] is None
    assert reasons["on_hattrick"] == "stale"


def test_sixes_in_a_row_go_on_over_the_partners_balls(scorer: Scorer, watch: Watch) -> None:
    scorer.bowl(6)
    scorer.bowl(6)
    scorer.bowl(1, at=12)
    scorer.bowl(extras=1, extra="wide")
    scorer.bowl(6)

    tick = watch.look(scorer.fixture())

    (row,) = [event for event in tick.events if event.kind == "consecutive_sixes"]
    assert (row.player_id, row.value) == (11, 3)


def test_a_six_is_told_on_a_no_ball_too(scorer: Scorer, watch: Watch) -> None:
    scorer.bowl(6, extras=1, extra="noball")

    tick = watch.look(scorer.fixture())

    assert kinds(tick) == ["six"]


@pytest.mark.parametrize(
    ("spoiled", "maidens"),
    [
        ({}, 1),
        ({"extras": 2, "extra": "bye"}, 1),
        ({"extras": 1, "extra": "legbye"}, 1),
        ({"runs": 1}, 0),
        ({"extras": 1, "extra": "wide"}, 0),
        ({"extras": 1, "extra": "noball"}, 0),
        ({"by": 22}, 0),
    ],
)
def test_a_maiden_has_no_runs_off_the_bat_no_wides_and_one_bowler(
    scorer: Scorer, watch: Watch, spoiled: dict[str, object], maidens: int
) -> None:
    _dots(scorer, 3)
    watch.look(scorer.fixture())
    scorer.bowl(**spoiled)  # type: ignore[arg-type]
    _dots(scorer, 3)

    tick = watch.look(scorer.fixture())

    assert kinds(tick).count("maiden") == maidens


def test_a_batter_is_on_fire_once_while_it_burns(scorer: Scorer, watch: Watch) -> None:
    fixtures = []
    for runs in (6, 4, 6, 4, 6, 4, 6, 0, 0, 0, 0, 0, 0, 0, 0):
        scorer.bowl(runs)
        fixtures.append(scorer.fixture())

    for fixture in fixtures:
        watch.look(fixture)

    fires = [event for event in watch.events if event.kind == "batsman_on_fire"]
    assert [(event.player_id, event.value) for event in fires] == [(11, 30)]


def test_twenty_balls_at_two_runs_a_ball_are_fire(scorer: Scorer, watch: Watch) -> None:
    for _ in range(20):
        scorer.bowl(2)

    tick = watch.look(scorer.fixture())

    (fire,) = [event for event in tick.events if event.kind == "batsman_on_fire"]
    assert fire.text.endswith("is on fire: 40 (20)")


def _dots(scorer: Scorer, number: int, by: int = 21) -> None:
    for _ in range(number):
        scorer.bowl(by=by)
