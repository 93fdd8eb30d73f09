"""Append-only time series, stored in local files or on PostgreSQL and TimescaleDB."""
