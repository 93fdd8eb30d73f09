"""The embedded engine: tables in one SQLite file, with nothing to install and nothing to start."""

from grandstand.storage.tables.engines.sqlite.connections import Durability
from grandstand.storage.tables.engines.sqlite.engine import SqliteEngine
from grandstand.storage.tables.engines.sqlite.faults import Faults

__all__ = ["Durability", "Faults", "SqliteEngine"]
