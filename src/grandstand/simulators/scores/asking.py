"""Kept here: what can be asked along with an address: includes, filters, fields, order, page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl

from grandstand.simulators.scores.words.scores import Row

PAGE_ROWS: Final = 100
_DATE_CHARS: Final = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, taken apart."""

    token: str = ""
    includes: tuple[str, ...] = ()
    filters: dict[str, str] = field(default_factory=dict)
    fields: dict[str, frozenset[str]] = field(default_factory=dict)
    sort: str = ""
    page: int = 1


def parse_query(query: str) -> Asked:
    """Answer what a query asks; words it does not know are left out."""
    told = dict(parse_qsl(query))
    page = told.get("page", "1")
    return Asked(
        token=told.get("api_token", ""),
        includes=tuple(filter(None, told.get("include", "").split(","))),
        filters=_bracketed(told, "filter"),
        fields={
            name: frozenset(each.split(",")) for name, each in _bracketed(told, "fields").items()
        },
        sort=told.get("sort", ""),
        page=max(1, int(page)) if page.isdecimal() else 1,
    )


def chosen(rows: Sequence[Row], asked: Asked) -> list[Row]:
    """Answer the rows that pass every filter, in the order asked for."""
    found = [row for row in rows if all(_passes(row, *each) for each in asked.filters.items())]
    name = asked.sort.removeprefix("-")
    if name:
        found.sort(key=lambda row: str(row.get(name, "")), reverse=asked.sort.startswith("-"))
    return found


def paged(rows: Sequence[Row], asked: Asked) -> list[Row]:
    """Answer one page, empty after the last."""
    start = (asked.page - 1) * PAGE_ROWS
    return list(rows[start : start + PAGE_ROWS])


def trimmed(value: object, fields: dict[str, frozenset[str]]) -> object:
    """Answer rows with only the fields asked for; what is included stays."""
    if isinstance(value, list):
        return [trimmed(each, fields) for each in value]
    if not isinstance(value, dict):
        return value
    wanted = fields.get(str(value.get("resource", "")))
    return {
        name: trimmed(each, fields)
        for name, each in value.items()
        if wanted is None or name in wanted or name == "resource" or isinstance(each, dict | list)
    }


def _bracketed(told: dict[str, str], word: str) -> dict[str, str]:
    return {
        name[len(word) + 1 : -1]: value
        for name, value in told.items()
        if name.startswith(f"{word}[") and name.endswith("]")
    }


def _passes(row: Row, name: str, value: str) -> bool:
    if name == "starts_between":
        first, _, last = value.partition(",")
        return _moment(first) <= _moment(str(row.get("starting_at"))) <= _moment(last, whole=True)
    return name not in row or str(row[name]) in value.split(",")


def _moment(text: str, *, whole: bool = False) -> datetime:
    """A date alone is its first moment, or with `whole` its last."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    if whole and len(text) <= _DATE_CHARS:
        moment += timedelta(days=1) - timedelta(microseconds=1)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
