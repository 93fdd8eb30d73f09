"""Kept here: the feed's ball rows, by the arithmetic of its score objects."""

from __future__ import annotations

from typing import Final

from grandstand.apps.cricket.model.scores import Ball, ExtraKind
from grandstand.apps.cricket.sources.sportmonks.reading import Reading, Row

_NOT_THE_BOWLERS: Final = ("run out", "retired", "obstruct", "timed out", "handled")
_SINCE_MARGIN: Final = 30


def parse_balls(reading: Reading, rows: list[Row], since: int | None = None) -> tuple[Ball, ...]:
    """Answer the balls in the order of their ids.

    With `since`, those after that id and thirty before it: what a tick needs, whatever the length
    of the match. A row without an id, a place or its players is counted and left out.
    """
    found: dict[int, Ball] = {}
    margin = _SINCE_MARGIN
    for row in reversed(rows):
        ball = _parse_ball(reading, row)
        if ball is None:
            continue
        found.setdefault(ball.id, ball)
        if since is not None and ball.id <= since:
            margin -= 1
            if not margin:
                break
    return tuple(found[each] for each in sorted(found))


def _parse_ball(reading: Reading, row: Row) -> Ball | None:
    ball_id, label = reading.find_number(row, "id"), reading.decimal(row, "ball")
    batter, bowler = reading.find_number(row, "batsman_id"), reading.find_number(row, "bowler_id")
    inning = inning_of(reading.text(row, "scoreboard"))
    if ball_id is None or label is None or batter is None or bowler is None or inning is None:
        reading.warn("a ball without an id, a place or its players")
        return None
    score = reading.row(row, "score")
    if not score:
        reading.warn("a ball without its score")
    over = int(label)
    ones, twos = (reading.find_number(row, f"batsman_{n}_on_creeze_id") for n in ("one", "two"))
    wicket = reading.flag(score, "is_wicket") or reading.flag(score, "out")
    name = reading.text(score, "name").lower()
    runs, extras, extra = _runs(reading, score, name)
    return Ball(
        id=ball_id,
        inning=inning,
        over=over,
        number=int(label * 10) - over * 10,
        batter_id=batter,
        bowler_id=bowler,
        runs=runs,
        extras=extras,
        extra=extra,
        four=reading.flag(score, "four") and extra in {None, "noball"},
        six=reading.flag(score, "six") and extra in {None, "noball"},
        wicket=wicket,
        credited=wicket and not any(word in name for word in _NOT_THE_BOWLERS),
        out_id=(reading.find_number(row, "batsmanout_id") or batter) if wicket else None,
        partner_id=twos if ones == batter else ones,
        how=reading.text(score, "name")[:24] if wicket else None,
    )


def _runs(reading: Reading, score: Row, name: str) -> tuple[int, int, ExtraKind | None]:
    """Answer runs off the bat, extras and their kind.

    There is no field for wides: the name says it, and `runs` is their full value. `runs` includes
    `noball_runs` and neither byes nor leg byes; where a name has both leg byes and runs, the leg
    byes include those runs.
    """
    runs, byes, leg_byes = (reading.number(score, each) for each in ("runs", "bye", "leg_bye"))
    if "wide" in name:
        return 0, runs + byes + leg_byes, "wide"
    if reading.number(score, "noball") > 0:
        penalty = reading.number(score, "noball_runs")
        return max(0, runs - penalty), penalty + byes + leg_byes, "noball"
    if leg_byes:
        return 0, max(leg_byes, runs), "legbye"
    if byes:
        return runs, byes, "bye"
    return runs, 0, None


def inning_of(scoreboard: str) -> int | None:
    """Answer the number of an innings by the name of its scoreboard: S1 is 1."""
    number = scoreboard[1:]
    known = scoreboard[:1] in {"S", "s"} and number.isascii() and number.isdigit()
    return int(number) if known and len(number) <= 2 and int(number) > 0 else None  # noqa: PLR2004
