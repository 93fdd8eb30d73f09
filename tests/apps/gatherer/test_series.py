"""The gatherer's series against the specification, and what was put right besides."""

from datetime import timedelta
from typing import Any

import pytest

from grandstand.apps.gatherer.store import (
    AUDITS,
    FOLLOWED,
    GAPS,
    KEYFRAMES,
    MARKET_EVENTS,
    SERIES,
    SESSIONS,
)
from grandstand.storage.series.declaration import Series
from tests.specification.series_facts import SeriesFact, series_facts

_TYPES = {
    "int64": "BIGINT",
    "int32": "INTEGER",
    "int16": "SMALLINT",
    "text": "TEXT",
    "bool": "BOOLEAN",
    "uuid": "UUID",
    "json": "JSONB",
}
_ADDED = {
    "trades": ("is_block", "gatherer", "conn"),
    "orderbook_deltas": ("ord", "gatherer", "conn"),
    "orderbook_snapshots": ("seq", "gatherer", "conn"),
    "tickers": ("gatherer", "conn"),
}
_DECLARED = {series.name: series for series in SERIES}
PAIRS = [pytest.param(fact, _DECLARED[fact.name], id=fact.name) for fact in series_facts().series]


def _us(span: timedelta | None) -> int | None:
    return None if span is None else span // timedelta(microseconds=1)


def test_every_series_of_the_specification_is_declared() -> None:
    specified = {fact.name for fact in series_facts().series}

    ours = {each.name for each in (GAPS, MARKET_EVENTS, SESSIONS, AUDITS, KEYFRAMES, FOLLOWED)}
    assert set(_DECLARED) == specified | ours


@pytest.mark.parametrize(("fact", "series"), PAIRS)
def test_columns_are_the_specified_ones_then_the_added_ones(
    fact: SeriesFact, series: Series[Any]
) -> None:
    specified = [(c.name, c.kept_type or c.type, c.nullable) for c in fact.columns]

    declared = [(c.name, _TYPES[c.kind], c.nullable) for c in series.columns]

    assert declared[: len(specified)] == specified
    assert tuple(name for name, _, _ in declared[len(specified) :]) == _ADDED[series.name]


@pytest.mark.parametrize(("fact", "series"), PAIRS)
def test_time_identity_and_spans_are_the_specified_ones(
    fact: SeriesFact, series: Series[Any]
) -> None:
    assert series.time == fact.time_column
    assert series.identity == (fact.identity or fact.primary_key)
    assert series.chunk_us == fact.chunk_us
    assert _us(series.compress_after) == fact.compression.after_us
    assert _us(series.retain) == fact.retention_us
    assert (series.key,) == fact.compression.segment_by


@pytest.mark.parametrize(("fact", "series"), PAIRS)
def test_indexes_have_the_specified_names_and_columns(
    fact: SeriesFact, series: Series[Any]
) -> None:
    signs = {"ascending": "", "descending": "-"}

    specified = [
        (index.name, tuple(signs[c.order] + c.name for c in index.columns))
        for index in fact.indexes
    ]

    assert [(index.name, index.columns) for index in series.indexes] == specified
