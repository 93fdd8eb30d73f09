"""Kept here: what may change of a series that has rows: it may have more columns, no more."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from grandstand.storage.series.declaration import Column, Series
from grandstand.storage.series.errors import SeriesChanged


def lacking(
    series: Series[Any], held: Mapping[str, tuple[str, bool]], identity: Collection[str]
) -> tuple[Column, ...]:
    """Answer the declared columns that what is held lacks: they may all be empty.

    Of each column held the kind is given and whether it may be empty. Raises SeriesChanged for any
    other difference.
    """
    declared = {column.name: column for column in series.columns}
    lost = sorted(held.keys() - declared.keys())
    if lost:
        refuse(series, f"{', '.join(lost)} is kept, but declared no more")
    for name, (kind, empty) in held.items():
        wanted = declared[name]
        if (wanted.kind, wanted.nullable) != (kind, empty):
            refuse(series, f"{name} is kept as {kind}{' or nothing' if empty else ''}")
    if {*identity} != {*series.identity}:
        refuse(series, f"the identity of its rows is {', '.join(identity)}")
    added = tuple(column for column in series.columns if column.name not in held)
    for column in added:
        if not column.nullable:
            refuse(series, f"{column.name} is new: rows already kept are empty there; add | None")
    return added


def refuse(series: Series[Any], why: str) -> None:
    """Raise SeriesChanged, with what can be done about it."""
    message = f"{series.name}: {why}; declare the series as it was, or under a new name"
    raise SeriesChanged(message)
