"""However seldom a match is looked at, the same things are found once, and it ends the same."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grandstand.simulators.scores.timeline import Correction
from tests.apps.cricket.tapes.tape_reader import (
    MILESTONES,
    ONCE,
    Log,
    closely,
    telling,
    told_with,
    watched,
)

BALLS = [*range(1, 31)]
OF_LINES = ("bowler_on_fire", "new_batsman", "stumps", "lunch", "tea", "rain_delay")


def names(log: Log) -> list[str]:
    """The names of all that was found; play resumes where it is first seen to."""
    return [key if not key.startswith("play_resumed") else "play_resumed" for key in log.named()]


def result(log: Log) -> tuple[object, ...]:
    state = log.state
    return state.status, state.score, state.batting, state.bowling, state.balls


def out(log: Log) -> list[tuple[int, int | None]]:
    """Whose wicket was told, in which innings."""
    return [(event.inning, event.player_id) for event in log.events if event.kind == "wicket"]


def happened(log: Log) -> Counter[tuple[object, ...]]:
    """What happened where and by whom, whatever the numbers of the balls are."""
    return Counter(
        (event.kind, event.inning, event.position, event.player_id, event.value)
        for event in log.events
    )


@pytest.mark.parametrize("balls", BALLS)
@pytest.mark.parametrize("name", ["1001349", "1370353", "1178424", "1000853"])
def test_a_real_match_is_the_same_at_every_interval(name: str, balls: int) -> None:
    every_moment = closely(name)
    told = every_moment.telling

    log = watched(told, told.every(balls))

    assert names(log) == names(every_moment)
    assert max(Counter(log.named()).values()) == 1
    assert log.state.figures == every_moment.state.figures


@settings(max_examples=8, deadline=None)
@given(
    name=st.sampled_from(["generated:{}:T10", "generated:{}:T10:tie"]),
    seed=st.integers(0, 10_000),
    balls=st.integers(1, 30),
)
def test_a_generated_match_is_the_same_at_every_interval(name: str, seed: int, balls: int) -> None:
    told = telling(name.format(seed))
    every_moment = watched(told, told.timeline.moments)

    log = watched(told, told.every(balls))

    assert names(log) == names(every_moment)
    assert max(Counter(log.named()).values()) == 1
    assert log.state.figures == every_moment.state.figures


@pytest.mark.parametrize("balls", [0, 1, 3, 7])
@pytest.mark.parametrize("correction_seed", [1, 4])
@pytest.mark.parametrize("name", ["1001349", "1370353", "1178424"])
def test_balls_posted_wrong_change_neither_the_end_nor_what_is_told_once(
    name: str, balls: int, correction_seed: int
) -> None:
    right, slipping = closely(name), telling(name, correction_seed)

    log = watched(slipping, slipping.every(balls) if balls else slipping.timeline.moments)

    assert result(log) == result(right)
    assert max(Counter(log.named()).values()) == 1
    assert set(right.named(*MILESTONES, *ONCE)) <= set(log.named())
    assert set(out(right)) <= set(out(log))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), correction_seed=st.integers(0, 10_000), balls=st.integers(0, 6))
def test_a_ball_put_right_is_not_told_twice(seed: int, correction_seed: int, balls: int) -> None:
    slipping = telling(f"generated:{seed}:T10", correction_seed)

    log = watched(slipping, slipping.every(balls) if balls else slipping.timeline.moments)

    told = Counter((event.kind, event.ball_id) for event in log.events if event.ball_id)
    assert max(Counter(log.named()).values()) == 1
    assert max(told.values()) == 1


def test_somebody_who_looks_closely_sees_balls_being_put_right() -> None:
    slipping = telling("1001349", correction_seed=1)

    log = watched(slipping, slipping.timeline.moments)

    slipped = sum(moment.correction is not None for moment in slipping.timeline.moments)
    assert slipped > 20
    assert sum(tick.resync for _, tick in log.ticks) == slipped


def test_a_test_of_days_with_slips_ends_as_it_did() -> None:
    right, slipping = closely("1000853"), telling("1000853", correction_seed=3)

    log = watched(slipping, slipping.every(2))

    assert result(log) == result(right)
    assert max(Counter(log.named()).values()) == 1
    assert set(out(right)) <= set(out(log))


@pytest.mark.parametrize("balls", [0, 1, 4, 13, 30])
@pytest.mark.parametrize("name", ["1001349", "1370353", "1178424", "1000853"])
def test_scores_without_balls_tell_the_same_milestones(name: str, balls: int) -> None:
    right = closely(name)
    told = right.telling
    moments = told.every(balls) if balls else told.timeline.moments

    log = watched(told, moments, with_balls=False)

    assert log.named(*MILESTONES, *ONCE, *OF_LINES) == right.named(*MILESTONES, *ONCE, *OF_LINES)
    assert Counter(out(log)) == Counter(out(right))


@pytest.mark.parametrize("name", ["1178424", "1370353"])
def test_a_match_in_which_every_ball_is_deleted_and_posted_anew_tells_all_once(name: str) -> None:
    right, record = closely(name), closely(name).telling.record
    twice = {place: Correction(ball, deleted=True) for place, ball in enumerate(record.deliveries)}
    told = told_with(record, twice)

    log = watched(told, told.timeline.moments)

    assert happened(log) == happened(right)
    assert result(log) == result(right)


@pytest.mark.parametrize("name", ["1001349", "1370353"])
def test_runs_that_are_taken_back_tell_a_milestone_once(name: str) -> None:
    right, record = closely(name), closely(name).telling.record
    too_many = {
        place: Correction(replace(ball, runs=ball.runs + 6, boundary=False))
        for place, ball in enumerate(record.deliveries)
    }
    told = told_with(record, too_many)

    log = watched(told, told.timeline.moments)

    assert max(Counter(log.named()).values()) == 1
    assert set(right.named(*MILESTONES)) <= set(log.named())
    assert result(log) == result(right)
