"""A feed that changes its mind is followed in silence and alerts nobody twice."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.cricket.domain.matches import Ball
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


def test_a_changed_ball_says_nothing(scorer: Scorer, watch: Watch) -> None:
    ball = scorer.bowl(4)
    watch.look(scorer.fixture())
    scorer.correct(ball, runs=6, four=False, six=True)

    tick = watch.look(scorer.fixture())

    assert (tick.resync, tick.changed, tick.events) == (True, True, ())
    assert tick.state.balls[-1].six


def test_a_ball_that_turns_out_a_wicket_is_told(scorer: Scorer, watch: Watch) -> None:
    ball = scorer.bowl()
    watch.look(scorer.fixture())
    scorer.correct(ball, wicket=True, credited=True, out_id=11)

    tick = watch.look(scorer.fixture())

    assert kinds(tick) == ["wicket"]


def test_a_wicket_taken_back_and_given_again_alerts_once(scorer: Scorer, watch: Watch) -> None:
    ball = scorer.out()
    watch.look(scorer.fixture())
    scorer.correct(ball, wicket=False, credited=False, out_id=None)
    watch.look(scorer.fixture())
    scorer.correct(ball, wicket=True, credited=True, out_id=11)

    tick = watch.look(scorer.fixture())

    assert (tick.resync, tick.events) == (True, ())
    assert [event.kind for event in watch.events].count("wicket") == 1


def test_after_a_wicket_taken_back_the_real_one_alerts(scorer: Scorer, watch: Watch) -> None:
    wrong = scorer.out()
    watch.look(scorer.fixture())
    scorer.correct(wrong, wicket=False, credited=False, out_id=None)
    watch.look(scorer.fixture())
    scorer.bowl(1)
    scorer.out(then=13)

    tick = watch.look(scorer.fixture())

    assert kinds(tick) == ["new_batsman", "wicket"]


def test_a_ball_deleted_and_posted_anew_is_told_once(scorer: Scorer, watch: Watch) -> None:
    scorer.bowl()
    wrong = scorer.bowl(6)
    watch.look(scorer.fixture())
    scorer.delete(wrong)
    watch.look(scorer.fixture())
    scorer.bowl(6)

    tick = watch.look(scorer.fixture())

    assert (tick.changed, tick.events) == (True, ())
    assert tick.state.memory.retracted == ()


def test_a_deleted_dot_does_not_hide_the_six_in_its_place(scorer: Scorer, watch: Watch) -> None:
    scorer.bowl()
    wrong = scorer.bowl()
    watch.look(scorer.fixture())
    scorer.delete(wrong)
    watch.look(scorer.fixture())
    scorer.bowl(6)

    tick = watch.look(scorer.fixture())

    assert kinds(tick) == ["six"]


def test_a_correction_completes_a_hat_trick_once(scorer: Scorer, watch: Watch) -> None:
    scorer.out(then=13)
    middle = scorer.bowl()
    scorer.out(then=14)
    watch.look(scorer.fixture())
    scorer.correct(middle, wicket=True, credited=True, out_id=12)
    watch.look(scorer.fixture())
    scorer.correct(middle, wicket=False, credited=False, out_id=None)
    watch.look(scorer.fixture())
    scorer.correct(middle, wicket=True, credited=True, out_id=12)
    watch.look(scorer.fixture())

    assert [event.kind for event in watch.events].count("hattrick") == 1


def test_a_run_taken_back_as_the_over_ends_makes_it_a_maiden(scorer: Scorer, watch: Watch) -> None:
    for _ in range(4):
        scorer.bowl()
    fifth = scorer.bowl(1)
    watch.look(scorer.fixture())
    scorer.correct(fifth, runs=0, extras=1, extra="legbye")
    scorer.bowl()

    tick = watch.look(scorer.fixture())

    assert kinds(tick) == ["maiden", "over_end"]


def test_balls_left_out_once_are_not_deleted(scorer: Scorer, watch: Watch) -> None:
    scorer.bowl(6)
    watch.look(scorer.fixture())

    without = watch.look(scorer.fixture(balls=()))
    again = watch.look(scorer.fixture())

    assert (without.resync, without.changed) == (False, False)
    assert (again.resync, again.changed) == (False, False)


def test_the_last_balls_alone_are_enough(scorer: Scorer, watch: Watch) -> None:
    for _ in range(40):
        scorer.bowl()
    watch.look(scorer.fixture())
    scorer.bowl(4)

    tick = watch.look(scorer.fixture(balls=tuple(scorer.balls[-3:])))

    assert kinds(tick) == ["four"]
    assert tick.state.balls == tuple(scorer.balls[-30:])


def _spoilt(ball: Ball, chance: Random) -> Ball:
    """What a hasty scorer might have typed instead."""
    nothing = replace(
        ball, runs=0, extras=0, extra=None, four=False, six=False, wicket=False, credited=False
    )
    return chance.choice(
        [
            replace(nothing, out_id=None),
            replace(nothing, out_id=None, runs=4, four=True),
            replace(nothing, out_id=None, runs=6, six=True),
            replace(nothing, out_id=None, extras=5, extra="wide"),
            replace(nothing, wicket=True, credited=True, out_id=ball.batter_id),
        ]
    )


def _played(chance: Random) -> Scorer:
    scorer = Scorer(status="1st Innings")
    for n in range(90):
        runs = chance.choice([0, 0, 1, 2, 4, 4, 6, 6])
        out = chance.random() < 0.08 and scorer.crease[0] < 22
        _ball = (
            scorer.out(then=max(scorer.crease) + 1, by=21 + n // 6 % 3)
            if out
            else scorer.bowl(runs, by=21 + n // 6 % 3)
        )
    return scorer


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), step=st.integers(1, 12))
def test_one_wrong_ball_in_seven_loses_no_milestone_and_doubles_none(seed: int, step: int) -> None:
    chance = Random(seed)
    true = _played(chance)
    watch, shown = Watch(), replace(true, crease=[], balls=[])
    watch.look(shown.fixture())
    lasting = {"fifty", "hundred", "bowler_on_fire", "batsman_on_90s"}

    for end in range(step, len(true.balls) + step, step):
        shown.balls = [*true.balls[: end - 1], *(true.balls[end - 1 : end])]
        wrong = chance.random() < 1 / 7
        shown.balls[-1] = _spoilt(shown.balls[-1], chance) if wrong else shown.balls[-1]
        watch.look(shown.fixture())
        shown.balls = true.balls[:end]
        watch.look(shown.fixture())

    clean = Watch()
    clean.look(replace(true, crease=[], balls=[]).fixture())
    clean.look(replace(true, crease=[]).fixture())
    wickets = {event.player_id for event in clean.events if event.kind == "wicket"}
    assert len(watch.keys) == len(set(watch.keys))
    assert {e.key for e in clean.events if e.kind in lasting} <= set(watch.keys)
    assert wickets <= {event.player_id for event in watch.events if event.kind == "wicket"}
    assert watch.state is not None
    assert clean.state is not None
    assert watch.state.score == clean.state.score
    assert watch.state.batting == clean.state.batting
