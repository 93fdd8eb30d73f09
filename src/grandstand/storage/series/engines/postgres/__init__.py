"""The server engine: series on PostgreSQL, or on TimescaleDB in either of its editions."""

from grandstand.storage.series.engines.postgres.ddl import Edition, Step, steps
from grandstand.storage.series.engines.postgres.engine import PostgresEngine

__all__ = ["Edition", "PostgresEngine", "Step", "steps"]
