"""The embedded engine: tables in one SQLite file, with nothing to install and nothing to start."""

import sqlite3

from grandstand.storage.tables.engines.sqlite.engine import SqliteEngine
from grandstand.storage.tables.engines.sqlite.faults import Faults
from grandstand.storage.tables.engines.sqlite.file.connections import Durability

__all__ = ["Durability", "Faults", "SqliteEngine", "sqlite_version"]


def sqlite_version() -> tuple[int, ...]:
    """Answer the version of SQLite this Python carries."""
    return sqlite3.sqlite_version_info
