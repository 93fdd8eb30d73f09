"""Data of an incompatible version is refused."""

from pathlib import Path

import pytest

from grandstand.core.clock import SystemClock
from grandstand.host.infrastructure import OldData, open_store
from grandstand.host.settings import Settings
from grandstand.kit.jobs.tables import jobs
from grandstand.storage.tables import Entity, Naming, Store, Table, key
from grandstand.storage.tables.engines.sqlite import SqliteEngine

old_jobs = Table("grandstand-jobs", partition="house", sort="job_name", purpose="Jobs of 0.1.0.")


class OldJob(Entity, table=old_jobs):
    """A job as 0.1.0 stored it."""

    house: str
    job_name: str

    row = key("{house}", "{job_name}")


def test_home_of_an_older_version_is_refused(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path / "tables.db", clock=SystemClock())
    with Store(engine, naming=Naming(environment="dev"), clock=SystemClock()) as store:
        store.create((old_jobs,))

    with pytest.raises(OldData, match=r"0\.1\.0 and cannot be used\. Move it away"):
        open_store(Settings(home=tmp_path))


def test_home_of_this_version_is_opened_again(tmp_path: Path) -> None:
    with open_store(Settings(home=tmp_path)) as store:
        store.create((jobs,))

    with open_store(Settings(home=tmp_path)) as store:
        assert store.session.name(jobs) in store.session.engine.list_tables()
