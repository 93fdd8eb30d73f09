"""Kept here: answers that come out wrong on request: unknown words, wrong types, too much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from grandstand.simulators.scores.words.scores import Row

Wrong: TypeAlias = Literal[
    "unknown status", "no includes", "wrong types", "no rows", "no data", "huge", "no ids"
]

_HUGE: Final = 5 * 1024 * 1024
_INCLUDED: Final = frozenset(
    {"runs", "batting", "bowling", "balls", "lineup", "localteam", "visitorteam", "venue", "league"}
)


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
