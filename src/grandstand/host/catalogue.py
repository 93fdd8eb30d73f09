"""Kept here: which applications there are, and the tables of the whole house."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from grandstand.apps.bets import app as bets
from grandstand.apps.cricket import app as cricket
from grandstand.apps.gatherer import app as gatherer
from grandstand.apps.keiba import app as keiba
from grandstand.apps.trainer import app as trainer
from grandstand.base.errors import NotFound
from grandstand.storage.series.declaration import Series
from grandstand.storage.tables.house import HOUSE_TABLES
from grandstand.storage.tables.table import Table

APPS: Final[tuple[ModuleType, ...]] = (bets, gatherer, cricket, keiba, trainer)


def tables_by_owner() -> dict[str, tuple[Table, ...]]:
    """Answer every table under the application that owns it, the house's own last."""
    owned: dict[str, tuple[Table, ...]] = {app.NAME: app.TABLES for app in APPS if app.TABLES}
    return owned | {"house": HOUSE_TABLES}


def all_series() -> tuple[Series[Any], ...]:
    """Answer every series there is."""
    return gatherer.SERIES


def find_series(names: list[str]) -> tuple[Series[Any], ...]:
    """Answer the series of those names, all when none is given; raise NotFound."""
    known = {series.name: series for series in all_series()}
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"There is no series {', '.join(unknown)}; there are {', '.join(known)}"
        raise NotFound(message)
    return tuple(known[name] for name in names) if names else all_series()


def all_tables() -> tuple[Table, ...]:
    """Answer every table there is."""
    return tuple(table for tables in tables_by_owner().values() for table in tables)


def find_tables(names: list[str]) -> tuple[Table, ...]:
    """Answer the tables of those names or owners, all when none is given; raise NotFound."""
    owned = tables_by_owner()
    if not names:
        return all_tables()
    chosen: list[Table] = []
    for name in names:
        matching = owned.get(name) or tuple(t for t in all_tables() if t.name == name)
        if not matching:
            known = ", ".join([*owned, *(table.name for table in all_tables())])
            message = f"There is no table or application {name}; there are {known}"
            raise NotFound(message)
        chosen.extend(table for table in matching if table not in chosen)
    return tuple(chosen)
