"""A home with something of everything in it, and processes that are killed in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import UUID

from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.store import TRADES
from grandstand.core.clock import SystemClock
from grandstand.host.backup.archive import Progress
from grandstand.host.infrastructure import open_series, open_store, platform_secret
from grandstand.host.settings import Settings
from grandstand.storage.series.copying import rows_of
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from grandstand.storage.tables.requests import PutItem, ScanRequest
from grandstand.storage.tables.store import Store
from tests.host.backup import worker

ROOT = Path(__file__).parents[3]
DAY_US = 86_400_000_000
ITEMS = 700


def settings_of(home: Path, **more: str) -> Settings:
    """Settings of a home, which need not be there."""
    return Settings.model_validate({"home": home, **more})


def trade(number: int) -> Trade:
    at = number * DAY_US // 40
    return Trade(UUID(int=number), at, at, f"T{number % 3}", 52_000, 100, taker_side=True)


def fill(home: Path, items: int = ITEMS) -> Settings:
    """Fill a home: leases that expire, jobs, series old and late, the secret, spilled rows."""
    settings = settings_of(home)
    with open_store(settings) as store:
        store.create(PLATFORM_TABLES)
        leases = store.session.name(PLATFORM_TABLES[0])
        for start in range(0, items, 25):
            chosen = range(start, min(start + 25, items))
            store.session.engine.batch_write([PutItem(leases, lease(at)) for at in chosen])
    with closing(open_series(settings)) as engine:
        engine.prepare(TRADES)
        engine.append(TRADES, [trade(number) for number in range(100)])
        engine.upkeep(TRADES)
        engine.append(TRADES, [trade(1)._replace(trade_id=UUID(int=999))])
    platform_secret(settings)
    spilled = home / "gatherer" / "trades" / "1.spill"
    spilled.parent.mkdir(parents=True)
    spilled.write_bytes(b"spilled")
    (home / "settings.toml").write_text("[log]\nlevel = 'error'\n", encoding="utf-8")
    return settings


def lease(number: int) -> Item:
    return {"leaseKey": f"LEASE#{number:05d}", "epoch": number, "ttl": 4_000_000_000 + number}


def items_of(store: Store) -> dict[str, list[Item]]:
    """Return every item of every table."""
    engine = store.session.engine
    return {name: [*engine.scan(ScanRequest(name)).items] for name in engine.list_tables()}


def held(settings: Settings) -> tuple[dict[str, list[Item]], list[Trade], bytes]:
    """Return all that a home holds: items, rows and the secret."""
    with open_store(settings) as store, closing(open_series(settings)) as engine:
        engine.prepare(TRADES)
        rows = [*engine.read(rows_of(TRADES))]
        return items_of(store), rows, platform_secret(settings)


def names(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def silent(_reached: Progress) -> None:
    """Hear how far something is, and say nothing."""


@contextmanager
def standing(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start the worker, answer it when it stands still in the middle, and kill it at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", worker.__name__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "standing\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


CLOCK = SystemClock()
