"""Matches that were never played keep the laws, and are the same for the same seed."""

from __future__ import annotations

import pytest

from grandstand.simulators.scores.generated import FORMATS, generate_match
from grandstand.simulators.scores.scorecard import Scorebook

SEEDS = range(20)


def test_the_same_seed_is_the_same_match() -> None:
    assert generate_match(7) == generate_match(7)
    assert generate_match(7).innings != generate_match(8).innings


@pytest.mark.parametrize("form", FORMATS)
def test_nobody_bats_alone_or_after_being_out(form: str) -> None:
    tape = generate_match(3, form)

    out: set[tuple[int, int]] = set()
    for ball in tape.deliveries:
        assert ball.batter != ball.partner
        assert not {(ball.inning, ball.batter.id), (ball.inning, ball.partner.id)} & out
        out |= {(ball.inning, ball.dismissal.out.id)} if ball.dismissal else set()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chase_stops_when_it_is_won(seed: int) -> None:
    one, two = generate_match(seed, "T10").innings[:2]

    assert two.target == one.runs + 1
    assert two.runs - two.deliveries[-1].total < two.target


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tie_is_decided_by_super_overs(seed: int) -> None:
    tape = generate_match(seed, "T20", tie=True)

    one, two, *super_overs = tape.innings
    assert one.runs == two.runs
    assert len(super_overs) % 2 == 0
    assert all(innings.super_over for innings in super_overs)
    assert super_overs[-1].runs != super_overs[-2].runs
    assert tape.outcome.winner in tape.teams


@pytest.mark.parametrize("form", ["T10", "T20", "ODI"])
def test_an_innings_has_no_more_overs_and_wickets_than_it_may(form: str) -> None:
    tape = generate_match(11, form)

    sheets = Scorebook(tape).after(len(tape.deliveries))

    allowed = FORMATS[form]
    assert allowed is not None
    assert max(sheet.overs for sheet in sheets) <= allowed
    assert max(sheet.wickets for sheet in sheets) <= 10
    assert min(sheet.runs for sheet in sheets) > 20


def test_tests_end_in_every_way() -> None:
    notes = [generate_match(seed, "Test").outcome.note for seed in range(30)]

    assert any("runs" in note for note in notes)
    assert any("wicket" in note for note in notes)
    assert any("drawn" in note for note in notes)
