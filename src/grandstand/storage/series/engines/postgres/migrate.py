"""Kept here: how steps are done once each, recorded, by one migration at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from grandstand.storage.series.engines.postgres.ddl import TABLE, Step
from grandstand.storage.series.engines.postgres.names import quoted
from grandstand.storage.series.errors import SeriesChanged

if TYPE_CHECKING:
    from grandstand.storage.series.engines.postgres.connections import Connection, Connections

    Plan: TypeAlias = Callable[[Connection], Sequence[Step]]

LOCK: Final = 7_135_244_001

_LEDGER: Final = """
CREATE TABLE IF NOT EXISTS _grandstand_migrations (
    series TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (series, name)
)
"""
_RECORD: Final = """
INSERT INTO _grandstand_migrations (series, name, number, fingerprint, applied_at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (series, name) DO UPDATE
SET number = excluded.number, fingerprint = excluded.fingerprint, applied_at = excluded.applied_at
"""


class _Record(NamedTuple):
    number: int
    fingerprint: str


def migrate(
    connections: Connections,
    series: str,
    plan: Plan,
    *,
    now_us: int,
    dry_run: bool = False,
) -> tuple[Step, ...]:
    """Do the steps of a plan that are not done yet, all or none, and answer them.

    The plan is made when it is this migration's turn: two at once go one after the other. Steps
    that are new are numbered on from the last one recorded. With `dry_run` nothing is changed and
    the answer is what would be done. Raises SeriesChanged when a step was done with another text.
    """
    with connections.transaction() as connection:
        if dry_run:
            return _due(connection, series, plan(connection))
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(_LEDGER)
        due = _due(connection, series, plan(connection))
        for step in due:
            connection.execute(step.sql)
            record = (series, step.name, step.number, step.fingerprint, now_us)
            connection.execute(_RECORD, record)
        return due


def make_schema(connections: Connections, schema: str) -> None:
    """Make the schema the series are kept in, if it is not there."""
    with connections.transaction() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")


def _due(connection: Connection, series: str, steps: Sequence[Step]) -> tuple[Step, ...]:
    done = _done(connection, series)
    last = max((record.number for record in done.values()), default=0)
    if any(step.name == TABLE for step in steps):
        done = {}
    due = []
    for step in steps:
        record = done.get(step.name)
        if record is None or step.due == "always":
            last += 1
            due.append(replace(step, number=last))
        elif record.fingerprint != step.fingerprint:
            if step.due == "once":
                message = (
                    f"{series}: the step {step.name!r} was done with another text; "
                    "declare the series as it was, or under a new name"
                )
                raise SeriesChanged(message)
            due.append(replace(step, number=record.number))
    return tuple(due)


def _done(connection: Connection, series: str) -> dict[str, _Record]:
    found = connection.execute(
        "SELECT to_regclass(format('%I._grandstand_migrations', current_schema))"
    ).fetchone()
    if found is None or found[0] is None:
        return {}
    rows = connection.execute(
        "SELECT name, number, fingerprint FROM _grandstand_migrations WHERE series = %s", (series,)
    )
    return {name: _Record(number, fingerprint) for name, number, fingerprint in rows}
