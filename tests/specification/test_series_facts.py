"""That the facts of the time series are well formed, agree with themselves and are complete."""

from decimal import Decimal

import pytest

from tests.specification.series_facts import SeriesFact, series_facts

HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US
DRAWN_AS = {
    "UUID": "uuid",
    "BIGINT": "bigint",
    "TEXT": "varchar",
    "INTEGER": "int",
    "BOOLEAN": "boolean",
    "JSONB": "jsonb",
}
EACH_SERIES = pytest.mark.parametrize(
    "series", series_facts().series, ids=[series.name for series in series_facts().series]
)


def test_there_are_four_series_and_three_queries() -> None:
    facts = series_facts()

    names = [series.name for series in facts.series]

    assert names == ["trades", "orderbook_deltas", "orderbook_snapshots", "tickers"]
    assert [query.number for query in facts.queries] == [1, 2, 3]
    assert {query.series for query in facts.queries} <= set(names)


@EACH_SERIES
def test_keys_indexes_and_compression_name_columns(series: SeriesFact) -> None:
    columns = {column.name for column in series.columns}
    indexed = {column.name for index in series.indexes for column in index.columns}
    compressed = {column.name for column in series.compression.order_by}

    assert len(columns) == len(series.columns)
    assert indexed | compressed | set(series.primary_key) <= columns
    assert set(series.compression.segment_by) == {"ticker"}
    assert compressed == {series.time_column}


@EACH_SERIES
def test_the_time_column_is_in_the_key_and_in_microseconds(series: SeriesFact) -> None:
    types = {column.name: column.type for column in series.columns}
    nullable = {column.name for column in series.columns if column.nullable}

    assert types[series.time_column] == "BIGINT"
    assert series.time_column in series.primary_key
    assert nullable & set(series.primary_key) == set()


@EACH_SERIES
def test_a_repeated_row_is_ignored_by_the_primary_key(series: SeriesFact) -> None:
    extended = series.identity or series.primary_key

    assert series.conflict_columns == series.primary_key
    assert series.on_conflict == "do nothing"
    assert extended[: len(series.primary_key)] == series.primary_key


@EACH_SERIES
def test_the_diagram_draws_the_same_columns(series: SeriesFact) -> None:
    drawn = {column.name: column.type for column in series.diagram}
    keys = {column.name for column in series.diagram if column.key}

    assert drawn == {column.name: DRAWN_AS[column.type] for column in series.columns}
    assert keys == set(series.primary_key)


def test_chunks_compression_and_retention_are_as_stated() -> None:
    spans = {
        series.name: (series.chunk_us, series.compression.after_us, series.retention_us)
        for series in series_facts().series
    }

    assert spans == {
        "trades": (DAY_US, DAY_US, None),
        "orderbook_deltas": (HOUR_US, DAY_US, 7 * DAY_US),
        "orderbook_snapshots": (DAY_US, DAY_US, 30 * DAY_US),
        "tickers": (HOUR_US, DAY_US, 7 * DAY_US),
    }


def test_index_names_are_unique_and_seven() -> None:
    names = [index.name for series in series_facts().series for index in series.indexes]

    assert len(names) == len(set(names)) == 7


def test_a_price_is_its_dollars_in_hundred_thousandths() -> None:
    facts = series_facts()
    stored = {price.dollars: price.internal for price in facts.prices}

    expected = {dollars: Decimal(dollars) * facts.price_scale for dollars in stored}

    assert stored == expected
    assert len(stored) == 5


@EACH_SERIES
def test_a_days_size_is_rows_times_bytes(series: SeriesFact) -> None:
    estimate = series.estimate

    assert estimate.row_bytes * estimate.daily_rows == estimate.daily_mb * 1_000_000


def test_query_terms_name_columns_of_their_series() -> None:
    facts = series_facts()
    columns = {series.name: {each.name for each in series.columns} for series in facts.series}

    for query in facts.queries:
        named = {column.name for column in query.columns if column.name is not None}

        assert set(query.group_by) <= columns[query.series]
        assert {column.name for column in query.order_by} <= columns[query.series] | named


def test_timestamps_are_columns_in_order_of_the_specification() -> None:
    facts = series_facts()

    assert [each.column for each in facts.timestamps] == ["exchange_ts", "received_at"]
    assert len(facts.conversions) == 5
    assert facts.relational_tables == ()


def test_a_contradiction_is_about_a_series_and_keeps_something() -> None:
    facts = series_facts()
    names = {series.name for series in facts.series}

    for each in facts.contradictions:
        assert set(each.about) <= names
        assert len(each.sides) >= {"conflict": 2, "impossible": 2, "open": 1}[each.kind]
        assert each.kept


def test_what_is_widened_or_extended_has_its_contradiction() -> None:
    facts = series_facts()
    kept = {each.id: each.about for each in facts.contradictions}

    widened = {s.name for s in facts.series if any(column.kept_type for column in s.columns)}
    extended = {s.name for s in facts.series if s.identity}

    assert widened == set(kept["whole-contracts"])
    assert extended == set(kept["delta-key-collides"])
