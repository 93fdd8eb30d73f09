"""What happened in the four real matches, one ball a tick: lists that were checked and are kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.apps.cricket.tapes import counting
from tests.apps.cricket.tapes.tape_reader import closely, lines, telling, watched

NAMES = ["1001349", "1370353", "1178424", "1000853"]
RESULTS = {
    "1001349": ["Sri Lanka won by 5 wickets"],
    "1370353": ["Chennai Super Kings won by 5 wickets (D/L method)"],
    "1178424": ["No result"],
    "1000853": ["South Africa won by an innings and 80 runs"],
}
INNINGS = {
    "1001349": ["End of the 1st innings: AUS 168-6", "End of the 2nd innings: SL 172-5"],
    "1370353": ["End of the 1st innings: GT 214-4", "End of the 2nd innings: CSK 171-5"],
    "1178424": ["End of the 1st innings: RCB 62-7"],
    "1000853": [
        "End of the 1st innings: AUS 85-10",
        "End of the 2nd innings: SA 326-10",
        "End of the 3rd innings: AUS 161-10",
    ],
}


def kept(name: str) -> list[str]:
    """The list of a match, a line for each event."""
    return (Path(__file__).parent / "golden" / f"{name}.txt").read_text("utf-8").splitlines()


def told_of(name: str, kind: str, ending: str = "") -> Counter[tuple[int, str]]:
    """Who had an event of a kind in which innings, how often, by the list alone."""
    columns = [line.split(" | ") for line in kept(name)]
    return Counter(
        (int(place.partition("/")[0]), who)
        for place, event, key, who, *_ in columns
        if event == kind and key.endswith(ending)
    )


def latest_update_at(name: str, kind: str) -> Counter[tuple[str, str]]:
    """Where who had an event of a kind, by the list alone."""
    columns = [line.split(" | ") for line in kept(name)]
    return Counter((place, who) for place, event, _, who, *_ in columns if event == kind)


def overs_of(name: str, kind: str) -> list[tuple[int, int]]:
    """The innings and overs in the keys of a kind, by the list alone."""
    keys = [line.split(" | ")[2] for line in kept(name)]
    found = [key.split(":") for key in keys if key.startswith(f"{kind}:")]
    return sorted((int(inning), int(over)) for _, inning, over in found)


def words_of(name: str, kind: str) -> list[str]:
    return [line.split(" | ")[5] for line in kept(name) if line.split(" | ")[1] == kind]


@pytest.mark.parametrize("name", NAMES)
def test_a_match_at_one_ball_a_tick_gives_its_list(name: str) -> None:
    log = closely(name)

    assert lines(log) == kept(name)
    assert log.telling.warnings == []


@pytest.mark.parametrize("name", ["1178424", "1370353"])
def test_reading_only_what_is_new_gives_the_same_list(name: str) -> None:
    told = telling(name)

    log = watched(told, told.timeline.moments, answers=True)

    assert lines(log) == kept(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_has_every_wicket_and_boundary_of_its_file(name: str) -> None:
    match = counting.match_of(name)

    assert latest_update_at(name, "wicket") == counting.falls(match)
    assert latest_update_at(name, "four") == counting.boundaries(match, 4)
    assert latest_update_at(name, "six") == counting.boundaries(match, 6)
    assert told_of(name, "new_batsman") == counting.came_in(match)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_has_every_milestone_of_its_file(name: str) -> None:
    match = counting.match_of(name)

    assert told_of(name, "fifty") == counting.reached(match, 50)
    assert told_of(name, "batsman_on_90s") == counting.reached(match, 90)
    assert told_of(name, "hundred", ":100") == counting.reached(match, 100)
    assert told_of(name, "hundred", ":150") == counting.reached(match, 150)
    assert told_of(name, "bowler_on_fire", ":3") == counting.took(match, 3)
    assert told_of(name, "bowler_on_fire", ":5") == counting.took(match, 5)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_has_everybody_who_was_on_fire(name: str) -> None:
    match = counting.match_of(name)

    assert told_of(name, "batsman_on_fire") == counting.caught_fire(match)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_has_every_over_and_maiden_of_its_file(name: str) -> None:
    match = counting.match_of(name)

    assert overs_of(name, "over_end") == counting.whole_overs(match)
    assert overs_of(name, "maiden") == counting.maidens(match)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_has_every_hat_trick_of_its_file(name: str) -> None:
    match = counting.match_of(name)

    assert told_of(name, "on_hattrick") == counting.rows_of_wickets(match, 2)
    assert told_of(name, "hattrick") == counting.rows_of_wickets(match, 3)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_at_the_end_equals_the_file(name: str) -> None:
    match = counting.match_of(name)

    log = closely(name)

    kept_scores = [(each.score, each.wickets, each.position) for each in log.state.score]
    assert kept_scores == counting.totals(match)
    assert log.state.status == "Finished"


@pytest.mark.parametrize("name", NAMES)
def test_a_list_ends_as_its_match_did(name: str) -> None:
    assert words_of(name, "match_end") == RESULTS[name]
    assert words_of(name, "innings_end") == INNINGS[name]
    assert kept(name)[-1].split(" | ")[1] == "match_end"
