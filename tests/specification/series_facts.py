"""What the gatherer's specification says of its time series: columns, keys, chunks, queries."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.specification.fact_files import read
from tests.specification.facts import ContradictionFact


@dataclass(frozen=True, slots=True)
class ColumnFact:
    """A column; `kept_type` replaces the type where a resolution widens it."""

    name: str
    type: str
    nullable: bool = False
    kept_type: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class OrderedColumnFact:
    name: str
    order: str = "ascending"


@dataclass(frozen=True, slots=True)
class SeriesIndexFact:
    name: str
    columns: tuple[OrderedColumnFact, ...]


@dataclass(frozen=True, slots=True)
class CompressionFact:
    after_us: int
    segment_by: tuple[str, ...]
    order_by: tuple[OrderedColumnFact, ...]


@dataclass(frozen=True, slots=True)
class EstimateFact:
    row_bytes: int
    daily_rows: int
    daily_mb: int


@dataclass(frozen=True, slots=True)
class DiagramColumnFact:
    """A column as the overview draws it."""

    name: str
    type: str
    key: bool = False


@dataclass(frozen=True, slots=True)
class SeriesFact:
    """A time series; `identity` replaces the primary key where a resolution extends it."""

    name: str
    purpose: str
    columns: tuple[ColumnFact, ...]
    time_column: str
    primary_key: tuple[str, ...]
    chunk_us: int
    indexes: tuple[SeriesIndexFact, ...]
    compression: CompressionFact
    conflict_columns: tuple[str, ...]
    on_conflict: str
    estimate: EstimateFact
    diagram: tuple[DiagramColumnFact, ...]
    identity: tuple[str, ...] = ()
    retention_us: int | None = None


@dataclass(frozen=True, slots=True)
class ResultColumnFact:
    expression: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class SubqueryFact:
    series: str
    column: str
    where: tuple[str, ...]
    order_by: tuple[OrderedColumnFact, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class QueryFact:
    number: int
    title: str
    series: str
    parameters: tuple[str, ...]
    columns: tuple[ResultColumnFact, ...]
    where: tuple[str, ...]
    order_by: tuple[OrderedColumnFact, ...]
    group_by: tuple[str, ...] = ()
    having: str | None = None
    limit: int | None = None
    subquery: SubqueryFact | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class PriceFact:
    """A price as the feed writes it and as it is stored."""

    dollars: str
    internal: int
    note: str


@dataclass(frozen=True, slots=True)
class TimestampFact:
    column: str
    source: str
    meaning: str
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConversionFact:
    what: str
    result: str
    by: str


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """Everything of the gatherer's specification."""

    application: str
    principles: tuple[str, ...]
    relational_tables: tuple[str, ...]
    remote_only_tables: tuple[str, ...]
    series: tuple[SeriesFact, ...]
    queries: tuple[QueryFact, ...]
    price_scale: int
    price_field: str
    prices: tuple[PriceFact, ...]
    timestamps: tuple[TimestampFact, ...]
    conversions: tuple[ConversionFact, ...]
    snapshot_poll_minutes: int
    compression_ratio: int
    compressed_daily_mb: int
    contradictions: tuple[ContradictionFact, ...]


@cache
def series_facts() -> SeriesFacts:
    """The gatherer's facts; raises FactsMalformed when the file is not sound."""
    return read(SeriesFacts, Path(__file__).with_name("gatherer.json"))
