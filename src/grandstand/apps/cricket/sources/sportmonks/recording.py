"""Kept here: reading a file of answers the score feed once gave."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from grandstand.apps.cricket.model.errors import RecordingUnreadable
from grandstand.apps.cricket.sources.sportmonks.reading import Row

_ADVICE: Final = (
    "It must be answers of the feed, one JSON object a line or a list of them, or a match as "
    "cricsheet writes it"
)


def is_cricsheet(content: bytes) -> bool:
    """Tell whether a file is a match as cricsheet writes it."""
    try:
        found = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return False
    return isinstance(found, dict) and {"info", "innings"} <= found.keys()


def parse_recording(content: bytes) -> tuple[tuple[datetime | None, Row], ...]:
    """Answer the fixtures of a recording in their order, each with its time if that was kept.

    An answer is a fixture, or has one or many under `data`; `{"at": …, "answer": …}` gives it a
    time. Raises RecordingUnreadable.
    """
    try:
        found = tuple(_fixtures(_values(content)))
    except (msgspec.MsgspecError, ValueError) as fault:
        raise RecordingUnreadable(f"The file cannot be read: {fault}. {_ADVICE}") from fault
    if not found:
        raise RecordingUnreadable(f"The file is empty. {_ADVICE}")
    return found


def _values(content: bytes) -> list[object]:
    try:
        found = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return [msgspec.json.decode(line) for line in content.splitlines() if line.strip()]
    return found if isinstance(found, list) else [found]


def _fixtures(values: list[object]) -> Iterator[tuple[datetime | None, Row]]:
    for value in values:
        if not isinstance(value, dict):
            raise RecordingUnreadable(f"The file holds something that is no answer. {_ADVICE}")
        at: datetime | None = None
        answer: object = value
        if "answer" in value:
            at, answer = msgspec.convert(value.get("at"), datetime | None), value["answer"]
        told = answer.get("data", answer) if isinstance(answer, dict) else answer
        for row in told if isinstance(told, list) else [told]:
            if not isinstance(row, dict) or "id" not in row:
                raise RecordingUnreadable(f"The file holds an answer without a match. {_ADVICE}")
            yield at, row
