"""The list of apps, and all tables and series."""

from __future__ import annotations

from typing import Any, Final

from grandstand.apps.bets.app import APP as BETS
from grandstand.apps.cricket.app import APP as CRICKET
from grandstand.apps.gatherer.app import APP as GATHERER
from grandstand.apps.keiba.app import APP as KEIBA
from grandstand.apps.trainer.app import APP as TRAINER
from grandstand.core.errors import NotFound
from grandstand.kit.app import App
from grandstand.kit.auth.tables import AUTH_TABLES
from grandstand.kit.events import EVENT_TABLES
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.kit.llm import LLM_TABLES
from grandstand.kit.outbox import OUTBOX_TABLES
from grandstand.kit.shared_limits import LIMIT_TABLES
from grandstand.storage.series.declaration import Series
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES

APPS: Final[tuple[App[Any], ...]] = (BETS, GATHERER, CRICKET, KEIBA, TRAINER)


def tables_by_owner() -> dict[str, tuple[Table, ...]]:
    """Return all tables by app, the platform's own last."""
    owned = {app.name: app.tables for app in APPS if app.tables}
    return owned | {
        "platform": (
            *PLATFORM_TABLES,
            *AUTH_TABLES,
            *JOB_TABLES,
            *OUTBOX_TABLES,
            *EVENT_TABLES,
            *LIMIT_TABLES,
            *LLM_TABLES,
        )
    }


def all_series() -> tuple[Series[Any], ...]:
    """Return all series."""
    return tuple(series for app in APPS for series in app.series)


def find_series(names: list[str]) -> tuple[Series[Any], ...]:
    """Return series by name, or all without names. Raises NotFound."""
    known = {series.name: series for series in all_series()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise NotFound(f"No series named {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[name] for name in names) if names else all_series()


def all_tables() -> tuple[Table, ...]:
    """Return all tables."""
    return tuple(table for tables in tables_by_owner().values() for table in tables)


def find_tables(names: list[str]) -> tuple[Table, ...]:
    """Return tables by name or app, or all without names. Raises NotFound."""
    owned = tables_by_owner()
    if not names:
        return all_tables()
    chosen: list[Table] = []
    for name in names:
        matching = owned.get(name) or tuple(t for t in all_tables() if t.name == name)
        if not matching:
            known = ", ".join([*owned, *(table.name for table in all_tables())])
            raise NotFound(f"No table or app named {name}; there are {known}")
        chosen.extend(table for table in matching if table not in chosen)
    return tuple(chosen)
