"""Kept here: the embedded engine of series: a SQLite file a chunk, baked to Parquet later."""

from grandstand.storage.series.engines.chunks.engine import ChunkEngine

__all__ = ["ChunkEngine"]
