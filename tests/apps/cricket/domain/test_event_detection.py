"""A tick finds everything once, however far apart two ticks are."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.cricket.domain.matches import MatchSnapshot
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.domain.watcher import Watch, watched


def _played(seed: int) -> Scorer:
    """Two innings of twenty overs, or until they are all out."""
    chance = Random(seed)
    scorer = Scorer()
    for inning, first in ((1, 11), (2, 31)):
        scorer.innings(inning, "", (first, first + 1))
        for n in range(120):
            kind = chance.choices(["runs", "wide", "noball", "bye", "out"], [80, 5, 3, 3, 9])[0]
            by, runs = first + 30 + n // 6 % 5, chance.choice([0, 0, 1, 1, 2, 3, 4, 6, 6])
            after = max(scorer.crease) + 1
            if kind == "out" and after < first + 11:
                scorer.out(then=after, by=by, credited=chance.random() < 0.9)
            elif kind in {"wide", "bye"}:
                scorer.bowl(by=by, extras=1, extra=kind)
            else:
                scorer.bowl(runs, by=by)
            scorer.crease = scorer.crease[:: chance.choice([1, -1])]
    scorer.crease = []
    return scorer


def _looks(scorer: Scorer, step: int) -> list[MatchSnapshot]:
    """What is seen every so many balls, from before the start to after the end."""
    total = len(scorer.balls)
    names = {1: "1st Innings", 2: "2nd Innings"}
    ends = [*range(step, total, step), total]
    play = [scorer.fixture(n, status=names[scorer.balls[n - 1].inning]) for n in ends]
    over = scorer.fixture(total, status="Finished", winner_team_id="1", note="Harbour Town won")
    return [scorer.fixture(0, status="NS"), *play, over]


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), step=st.integers(2, 30))
def test_any_interval_finds_the_same_events_once_and_ends_in_the_same_state(
    seed: int, step: int
) -> None:
    scorer = _played(seed)

    every = watched(_looks(scorer, 1))
    rarely = watched(_looks(scorer, step))

    assert len(every.keys) == len(set(every.keys))
    assert sorted(rarely.keys) == sorted(every.keys)
    assert every.state is not None
    assert rarely.state is not None
    assert rarely.state.figures == every.state.figures


def test_a_tick_tells_one_event_and_says_why_the_others_are_not_told() -> None:
    watch = watched(_looks(_played(7), 13))

    told = [[event for event in tick.events if event.filtered is None] for tick in watch.seen]

    assert {len(events) for events in told} <= {0, 1}
    assert [events[0] if events else None for events in told] == [t.key_event for t in watch.seen]


def test_a_tick_that_saw_nothing_new_keeps_the_very_state() -> None:
    scorer = _played(7)
    watch = watched(_looks(scorer, 30))

    again = watch.look(_looks(scorer, 30)[-1])

    assert (again.changed, again.events, again.resync) == (False, (), False)
    assert again.state is watch.seen[-2].state


def test_a_match_seen_late_is_joined_in_silence() -> None:
    looks = _looks(_played(7), 1)

    watch = watched(looks[100:])

    assert (watch.seen[0].joined, watch.seen[0].events) == (True, ())
    assert {"match_start", "toss"}.isdisjoint(event.kind for event in watch.events)
    assert watch.keys.count("match_end") == 1


def test_a_match_seen_within_its_first_balls_is_not_late() -> None:
    looks = _looks(_played(7), 1)

    late, whole = watched(looks[20:]), watched(looks)

    assert not late.seen[0].joined
    assert sorted(late.keys) == sorted(whole.keys)


def test_an_unknown_status_keeps_the_phase_and_warns() -> None:
    scorer = Scorer(status="1st Innings")
    scorer.bowl()
    watch = watched([scorer.fixture()])

    tick = watch.look(scorer.fixture(status="Drinks"))

    assert (tick.state.phase, tick.warnings) == ("live", ("unknown status 'Drinks'",))


def test_the_order_of_changed_ticks_grows_and_unchanged_ones_do_not_count() -> None:
    scorer = Scorer(status="1st Innings")
    watch = Watch()
    watch.look(scorer.fixture())
    scorer.bowl(1)
    watch.look(scorer.fixture())
    watch.look(scorer.fixture())
    scorer.bowl(1)

    tick = watch.look(scorer.fixture())

    assert tick.state.seq == 3


@pytest.mark.parametrize("step", [1, 30])
def test_what_is_kept_stays_within_bounds_however_long_a_match_is(step: int) -> None:
    looks = _looks(_played(3), step)

    watch = watched(looks)

    states = [tick.state for tick in watch.seen]
    assert max(len(state.balls) for state in states) == 30
    assert max(len(state.memory.batters_in) for state in states) <= 11
    assert max(len(state.memory.in_a_row) for state in states) <= 8
    assert max(len(state.cooldowns) for state in states) <= 8
