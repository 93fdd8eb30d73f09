"""Arbitrary parsed values of pages, generated from their types."""

import dataclasses
import types
import typing
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXT,
    int: st.integers(-(10**30), 10**30),
    bool: st.booleans(),
    Decimal: st.decimals(-(10**9), 10**9, places=3),
    date: st.dates(),
    # Moments of pages are of the minute; the table keeps seconds.
    datetime: st.integers(0, 2**32).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
}


@cache
def any_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Any value of a type."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if dataclasses.is_dataclass(annotation):
        hints = typing.get_type_hints(annotation)
        fields = {each.name: any_of(hints[each.name]) for each in dataclasses.fields(annotation)}
        return st.builds(typing.cast("type[Any]", annotation), **fields)
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(any_of(inner[0]), max_size=3).map(tuple)
    if origin in (typing.Union, types.UnionType):
        return st.one_of([st.none() if one is type(None) else any_of(one) for one in inner])
    message = f"nobody knows how to make {annotation}"
    raise TypeError(message)
