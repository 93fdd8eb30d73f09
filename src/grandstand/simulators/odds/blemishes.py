"""Kept here: what can be wrong with an answer that is well formed, on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast

import msgspec

from grandstand.simulators.odds.words import Row

Wrong: TypeAlias = Literal[
    "short price",
    "missing side",
    "unknown team",
    "text score",
    "one score",
    "duplicated game",
    "no start",
    "no teams",
    "text price",
]


class Blemish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that is wrong with the first game of answers, so many times."""

    kind: Wrong
    path: str = "/v4"
    times: int = 1


@dataclass
class Blemishes:
    """The blemishes asked for, in their order."""

    asked: list[Blemish] = field(default_factory=list)

    def ask_for(self, *wanted: Blemish) -> None:
        """Let these happen from now on, in place of those before."""
        self.asked = [*wanted]

    def applied(self, path: str, rows: list[Row]) -> list[Row]:
        """Answer an answer with whatever is to be wrong with it."""
        for at, each in enumerate(self.asked):
            if each.times > 0 and path.startswith(each.path) and rows:
                self.asked[at] = msgspec.structs.replace(each, times=each.times - 1)
                rows = _WAYS[each.kind](rows)
        return rows


def _outcomes(row: Row) -> list[Row]:
    """The sides of a game's first market."""
    books = cast("list[Row]", row.get("bookmakers") or [{}])
    markets = cast("list[Row]", books[0].get("markets") or [{}])
    return cast("list[Row]", markets[0].get("outcomes") or [{}])


def _short_price(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0])[0]["price"] = -50
    return rows


def _text_price(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0])[0]["price"] = "evens"
    return rows


def _missing_side(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0]).pop()
    return rows


def _unknown_team(rows: list[Row]) -> list[Row]:
    _outcomes(rows[0])[0]["name"] = "Harlem Globetrotters"
    return rows


def _text_score(rows: list[Row]) -> list[Row]:
    for row in rows:
        if row.get("scores"):
            cast("list[Row]", row["scores"])[0]["score"] = "forfeit"
            break
    return rows


def _one_score(rows: list[Row]) -> list[Row]:
    for row in rows:
        if row.get("scores"):
            cast("list[Row]", row["scores"]).pop()
            break
    return rows


def _duplicated(rows: list[Row]) -> list[Row]:
    return [rows[0], *rows]


def _no_start(rows: list[Row]) -> list[Row]:
    return [{**rows[0], "commence_time": None}, *rows[1:]]


def _no_teams(rows: list[Row]) -> list[Row]:
    return [{**rows[0], "home_team": None}, *rows[1:]]


_WAYS: Final[dict[Wrong, Callable[[list[Row]], list[Row]]]] = {
    "short price": _short_price,
    "missing side": _missing_side,
    "unknown team": _unknown_team,
    "text score": _text_score,
    "one score": _one_score,
    "duplicated game": _duplicated,
    "no start": _no_start,
    "no teams": _no_teams,
    "text price": _text_price,
}
