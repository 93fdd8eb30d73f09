"""What happened in a match, counted from its file alone: nothing of ours is used for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "cricsheet"
_FOR_THE_BOWLER = {"bowled", "caught", "caught and bowled", "hit wicket", "lbw", "stumped"}


def match_of(name: str) -> dict[str, Any]:
    """A file as it is."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_bytes())
    return found


def balls_of(match: dict[str, Any]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Every ball with its innings and its over, both from 1."""
    for inning, innings in enumerate(match["innings"], start=1):
        for over in innings["overs"]:
            for ball in over["deliveries"]:
                yield inning, over["over"] + 1, ball


def is_legal(ball: dict[str, Any]) -> bool:
    """Whether a ball counts."""
    return not {"wides", "noballs"} & set(ball.get("extras", {}))


def placed(match: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every ball with its place, 2/17.3; an illegal one has that of the next legal one."""
    last, legal = (0, 0), 0
    for inning, over, ball in balls_of(match):
        legal = legal if (inning, over) == last else 0
        last = inning, over
        yield f"{inning}/{over - 1}.{legal + 1}", ball
        legal += is_legal(ball)


def boundaries(match: dict[str, Any], runs: int) -> Counter[tuple[str, str]]:
    """Where each batter hit fours or sixes."""
    return Counter(
        (place, ball["batter"])
        for place, ball in placed(match)
        if ball["runs"]["batter"] == runs and not ball["runs"].get("non_boundary")
    )


def falls(match: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Where somebody was out."""
    return Counter(
        (place, wicket["player_out"])
        for place, ball in placed(match)
        for wicket in ball.get("wickets", [])
        if wicket["kind"] != "retired hurt"
    )


def reached(match: dict[str, Any], runs: int) -> Counter[tuple[int, str]]:
    """Who had at least so many runs in which innings."""
    totals: Counter[tuple[int, str]] = Counter()
    for inning, _, ball in balls_of(match):
        totals[inning, ball["batter"]] += ball["runs"]["batter"]
    return Counter(who for who, total in totals.items() if total >= runs)


def took(match: dict[str, Any], least: int) -> Counter[tuple[int, str]]:
    """Who took at least so many wickets in which innings."""
    totals: Counter[tuple[int, str]] = Counter(
        (inning, ball["bowler"])
        for inning, _, ball in balls_of(match)
        for wicket in ball.get("wickets", [])
        if wicket["kind"] in _FOR_THE_BOWLER
    )
    return Counter(who for who, total in totals.items() if total >= least)


def whole_overs(match: dict[str, Any]) -> list[tuple[int, int]]:
    """The overs of six legal balls: innings and number."""
    legal = Counter((inning, over) for inning, over, ball in balls_of(match) if is_legal(ball))
    return sorted(place for place, number in legal.items() if number >= 6)


def maidens(match: dict[str, Any]) -> list[tuple[int, int]]:
    """The overs of six legal balls and nothing else, off which nobody scored with the bat."""
    spoilt = {
        (inning, over)
        for inning, over, ball in balls_of(match)
        if ball["runs"]["batter"] or not is_legal(ball)
    }
    return [place for place in whole_overs(match) if place not in spoilt]


def came_in(match: dict[str, Any]) -> Counter[tuple[int, str]]:
    """Who came in after the first two of an innings."""
    seen: dict[int, dict[str, None]] = {}
    for inning, _, ball in balls_of(match):
        seen.setdefault(inning, {}).update({ball["batter"]: None, ball["non_striker"]: None})
    return Counter((inning, who) for inning, people in seen.items() for who in [*people][2:])


def rows_of_wickets(match: dict[str, Any], length: int) -> Counter[tuple[int, str]]:
    """Who had a row of wickets of exactly this length so far, with which innings it was in."""
    found: Counter[tuple[int, str]] = Counter()
    rows: Counter[str] = Counter()
    for inning, _, ball in balls_of(match):
        bowler = ball["bowler"]
        struck = any(each["kind"] in _FOR_THE_BOWLER for each in ball.get("wickets", []))
        rows[bowler] = rows[bowler] + 1 if struck else 0
        found[inning, bowler] += rows[bowler] == length
    return +found


def totals(match: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Runs, wickets and legal balls of each innings."""
    runs: Counter[int] = Counter()
    legal: Counter[int] = Counter()
    for inning, _, ball in balls_of(match):
        runs[inning] += ball["runs"]["total"]
        legal[inning] += is_legal(ball)
    lost = Counter(int(place.partition("/")[0]) for place, _ in falls(match).elements())
    return [(runs[inning], lost[inning], legal[inning]) for inning in sorted(runs)]


def caught_fire(match: dict[str, Any]) -> Counter[tuple[int, str]]:
    """Who came to score 30 off their last 12 balls, or twice as many runs as balls after 20."""
    found: Counter[tuple[int, str]] = Counter()
    faced: dict[tuple[int, str], list[int]] = {}
    burning: dict[tuple[int, str], bool] = {}
    for inning, _, ball in balls_of(match):
        who = inning, ball["batter"]
        if "wides" not in ball.get("extras", {}):
            runs = faced.setdefault(who, [])
            runs.append(ball["runs"]["batter"])
            quick = len(runs) >= 20 and sum(runs) >= 2 * len(runs)
            now = quick or sum(runs[-12:]) >= 30
            found[who] += now and not burning.get(who, False)
            burning[who] = now
    return +found
