"""Kept here: how names, texts and kinds of columns are written in PostgreSQL's SQL."""

from __future__ import annotations

import re
from typing import Any, Final

from grandstand.storage.series.declaration import Kind, Series, SeriesFault

TYPES: Final[dict[Kind, str]] = {
    "int64": "BIGINT",
    "int32": "INTEGER",
    "int16": "SMALLINT",
    "text": "TEXT",
    "bool": "BOOLEAN",
    "uuid": "UUID",
    "json": "JSONB",
}

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*\Z")
# A partition is called after its series and its start, and PostgreSQL cuts names at 63 bytes.
_LONGEST: Final = 40

# The words PostgreSQL reserves, or reserves outside of functions and types.
_WORDS: Final = """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check
    collate collation column concurrently constraint create cross current_catalog current_date
    current_role current_schema current_time current_timestamp current_user default deferrable
    desc distinct do else end except false fetch for foreign freeze from full grant group having
    ilike in initially inner intersect into is isnull join lateral leading left like limit
    localtime localtimestamp natural not notnull null offset on only or order outer overlaps
    placing primary references returning right select session_user similar some symmetric
    system_user table tablesample then to trailing true union unique user using variadic verbose
    when where window with
"""
_RESERVED: Final = frozenset(_WORDS.split())


def quoted(name: str) -> str:
    """Write a name so that PostgreSQL takes it as it is, in quotes only where it must be."""
    if _PLAIN.match(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def listed(names: tuple[str, ...]) -> str:
    """Write several names with commas between them."""
    return ", ".join(map(quoted, names))


def literal(text: str) -> str:
    """Write a text as a value in a statement that cannot be given parameters."""
    return "'" + text.replace("'", "''") + "'"


def relation(series: Series[Any]) -> str:
    """Write the name of a series' table as a value, the way functions take a table."""
    return literal(quoted(series.name))


def rest_of_identity(series: Series[Any]) -> tuple[str, ...]:
    """Answer the identity without the time: what orders the rows of one moment."""
    return tuple(name for name in series.identity if name != series.time)


def check_names(series: Series[Any]) -> None:
    """Raise SeriesFault for a series whose names PostgreSQL would shorten or mistake."""
    if len(series.name) > _LONGEST or not _PLAIN.match(series.name):
        message = (
            f"{series.name!r} cannot be a table: use at most {_LONGEST} small letters, digits and _"
        )
        raise SeriesFault(message)
    wrong = [name for name in series.fields if not _PLAIN.match(name) or len(name) > _LONGEST]
    if wrong:
        message = f"{series.name}: rename {', '.join(wrong)}: small letters, digits and _ only"
        raise SeriesFault(message)
