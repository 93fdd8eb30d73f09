"""Kept here: answers that come out wrong on request: unknown words, wrong types, too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import msgspec

from grandstand.simulators.scores.words.scores import Row

Wrong: TypeAlias = Literal[
    "unknown status", "no includes", "wrong types", "no rows", "no data", "huge", "no ids"
]

_HUGE: Final = 5 * 1024 * 1024
_INCLUDED: Final = frozenset(
    {"runs", "batting", "bowling", "balls", "lineup", "localteam", "visitorteam", "venue", "league"}
)


class Blemish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is wrong, where (a path's beginning), and how many times; None never ends."""

    wrong: Wrong
    path: str = "/"
    times: int | None = None


@dataclass
class Blemishes:
    """What is wrong at present."""

    asked: list[Blemish] = field(default_factory=list)
    _left: dict[int, int] = field(default_factory=dict)

    def ask_for(self, *blemishes: Blemish) -> None:
        """Let answers come out so from now on, in place of what was asked for before."""
        self.asked = [*blemishes]
        self._left = {at: one.times for at, one in enumerate(blemishes) if one.times is not None}

    def strike(self, path: str) -> Wrong | None:
        """Answer what is wrong with the answer asked for now, None if nothing is."""
        for at, blemish in enumerate(self.asked):
            if path.startswith(blemish.path) and self._left.get(at) != 0:
                if at in self._left:
                    self._left[at] -= 1
                return blemish.wrong
        return None


def blemished(wrong: Wrong, told: object) -> object:
    """Answer what is sent in place of a right answer."""
    if not isinstance(told, dict) or wrong == "no data":
        return {"oops": True}
    if wrong == "huge":
        return {**told, "padding": "x" * _HUGE}
    data = told.get("data")
    spoil = _SPOILT[wrong]
    rows = [spoil(row) for row in data] if isinstance(data, list) else spoil(data)
    return {**told, "data": rows}


def _each(row: object, change: Callable[[Row], Row]) -> object:
    return change(row) if isinstance(row, dict) else row


def _wrong_types(row: Row) -> Row:
    return {
        **row,
        "note": {"text": 5},
        "super_over": "perhaps",
        "starting_at": "the day after tomorrow",
        "rpc_target": "many",
        "runs": [{"inning": "one"}, 7],
        "batting": "nobody",
        "bowling": [{"player_id": [], "scoreboard": 1}],
        "balls": [{"id": None}, None, {"id": "x", "ball": "y", "score": []}],
        "localteam": "somebody",
    }


_SPOILT: Final[dict[Wrong, Callable[[object], object]]] = {
    "unknown status": lambda row: _each(row, lambda each: {**each, "status": "Dew Inspection"}),
    "no includes": lambda row: _each(
        row, lambda each: {name: each[name] for name in each if name not in _INCLUDED}
    ),
    "wrong types": lambda row: _each(row, _wrong_types),
    "no rows": lambda _: 7,
    "no ids": lambda row: _each(row, lambda each: {**each, "id": None}),
}
