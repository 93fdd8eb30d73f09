"""The embedded engine: tables in an SQLite file."""

import sqlite3

from grandstand.storage.tables.engines.sqlite.connections import Durability
from grandstand.storage.tables.engines.sqlite.engine import SqliteEngine

__all__ = ["Durability", "SqliteEngine", "sqlite_version"]


def sqlite_version() -> tuple[int, ...]:
    return sqlite3.sqlite_version_info
