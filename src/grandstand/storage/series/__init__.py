"""Kept here: append-only time series, embedded or on PostgreSQL and TimescaleDB."""
