"""Kept here: which applications there are, and the tables of the whole house."""

from __future__ import annotations

from typing import Any, Final

from grandstand.apps.bets.app import CARD as BETS
from grandstand.apps.cricket.app import CARD as CRICKET
from grandstand.apps.gatherer.app import CARD as GATHERER
from grandstand.apps.keiba.app import CARD as KEIBA
from grandstand.apps.trainer.app import CARD as TRAINER
from grandstand.base.errors import NotFound
from grandstand.kit.app import App
from grandstand.kit.tables import KIT_TABLES
from grandstand.storage.series.declaration import Series
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.house import HOUSE_TABLES

APPS: Final[tuple[App[Any], ...]] = (BETS, GATHERER, CRICKET, KEIBA, TRAINER)


def tables_by_owner() -> dict[str, tuple[Table, ...]]:
    """Answer every table under the application that owns it, the house's own last."""
    owned = {app.name: app.tables for app in APPS if app.tables}
    return owned | {"house": HOUSE_TABLES + KIT_TABLES}


def all_series() -> tuple[Series[Any], ...]:
    """Answer every series there is."""
    return tuple(series for app in APPS for series in app.series)


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
