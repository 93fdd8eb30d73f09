"""Recorded and generated matches."""

from __future__ import annotations

import pytest

from grandstand.core.errors import NotFound
from grandstand.simulators.scores.matches import (
    FORMATS,
    RECORDED_MATCHES,
    find_match,
    find_timeline_config,
    generate_match,
    read_recorded_match,
)
from grandstand.simulators.scores.scorecard import Scorebook
from tests.simulators.scores.cricsheet_tapes import convert

SEEDS = range(20)


def test_the_same_seed_is_the_same_match() -> None:
    assert generate_match(7) == generate_match(7)
    assert generate_match(7).innings != generate_match(8).innings


@pytest.mark.parametrize("form", FORMATS)
def test_nobody_bats_alone_or_after_being_out(form: str) -> None:
    record = generate_match(3, form)

    out: set[tuple[int, int]] = set()
    for ball in record.deliveries:
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
    record = generate_match(seed, "T20", tie=True)

    one, two, *super_overs = record.innings
    assert one.runs == two.runs
    assert len(super_overs) % 2 == 0
    assert all(innings.super_over for innings in super_overs)
    assert super_overs[-1].runs != super_overs[-2].runs
    assert record.outcome.winner in record.teams


@pytest.mark.parametrize("form", ["T10", "T20", "ODI"])
def test_an_innings_has_no_more_overs_and_wickets_than_it_may(form: str) -> None:
    record = generate_match(11, form)

    sheets = Scorebook(record).after(len(record.deliveries))

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


@pytest.mark.parametrize("number", RECORDED_MATCHES)
def test_a_recorded_match_equals_its_cricsheet_file(number: int) -> None:
    assert read_recorded_match(number) == convert(number)


@pytest.mark.parametrize("number", RECORDED_MATCHES)
def test_players_of_a_recorded_match_have_unique_ids(number: int) -> None:
    ids = [player.id for player in read_recorded_match(number).players]

    assert len(set(ids)) == len(ids) >= 22
    assert max(ids) < 16**5


@pytest.mark.parametrize(
    ("number", "scores"),
    [
        (1001349, [(168, 6, 20), (172, 5, 20)]),
        (1370353, [(214, 4, 20), (171, 5, 15)]),
        (1178424, [(62, 7, 5), (41, 1, 3.2)]),
        (1000853, [(85, 10, 32.5), (326, 10, 100.5), (161, 10, 60.1)]),
    ],
)
def test_a_recorded_match_comes_to_its_known_scores(
    number: int, scores: list[tuple[int, int, float]]
) -> None:
    record = read_recorded_match(number)

    sheets = Scorebook(record).after(len(record.deliveries))

    assert [(sheet.runs, sheet.wickets, sheet.overs) for sheet in sheets] == scores


@pytest.mark.parametrize("name", ["7", "1370353.json", "generated:x", "generated:1:Chess", ""])
def test_an_unknown_match_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        find_match(name)


def test_timelines_are_for_matches_with_rain_only() -> None:
    assert [number for number in RECORDED_MATCHES if find_timeline_config(number)] == [
        1370353,
        1178424,
    ]
