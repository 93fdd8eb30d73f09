"""Embedded series engine: one SQLite file per chunk, compressed to Parquet when it is old."""
