"""A backup is whole or not there, holds everything, and is made while others write."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grandstand.apps.gatherer.store import TRADES
from grandstand.core.errors import InvalidInput
from grandstand.host.backup.archive import Progress
from grandstand.host.backup.backup import BackupExists, BackupNotWritten, BackupResult, back_up
from grandstand.host.backup.restore import restore
from grandstand.host.infrastructure import open_series, open_store
from grandstand.host.settings import Settings
from grandstand.storage.tables.requests import PutItem
from tests.host.backup.making import (
    CLOCK,
    ITEMS,
    fill,
    held,
    lease,
    names,
    settings_of,
    silent,
    standing,
    trade,
)


def made(
    settings: Settings, to: Path, *, force: bool = False, simulated: bool = False
) -> BackupResult:
    return back_up(settings, to, clock=CLOCK, report=silent, force=force, simulated=simulated)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled home that is only read."""
    home = tmp_path_factory.mktemp("filled") / "home"
    fill(home)
    return home


def test_a_backup_counts_what_it_holds_and_only_its_owner_can_read_it(
    home: Path, tmp_path: Path
) -> None:
    written = made(settings_of(home), tmp_path / "new" / "b.zip")

    with zipfile.ZipFile(written.path) as archive:
        inside = {*archive.namelist()}
    assert written.manifest.tables["grandstand-leases"] == ITEMS
    assert written.manifest.series == {"trades": 101}
    assert written.path.stat().st_mode & 0o777 == 0o600
    assert {"manifest.json", "tables.db", "secret", "gatherer/trades/1.spill"} < inside
    assert not {name for name in inside if name.endswith((".lock", "-wal", "-shm", ".toml"))}
    assert names(written.path.parent) == ["b.zip"]


def test_in_a_folder_a_backup_is_named_by_the_time(home: Path, tmp_path: Path) -> None:
    written = made(settings_of(home), tmp_path)

    assert written.path.parent == tmp_path
    assert written.path.name.startswith("grandstand-2")
    assert written.path.suffix == ".zip"


def test_a_file_that_is_there_is_replaced_only_when_told_to(home: Path, tmp_path: Path) -> None:
    there = tmp_path / "b.zip"
    there.write_text("mine")

    with pytest.raises(BackupExists, match="--force"):
        made(settings_of(home), there)
    kept = there.read_text()
    made(settings_of(home), there, force=True)

    assert kept == "mine"
    assert zipfile.is_zipfile(there)


def test_where_nothing_can_be_written_nothing_is_there(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(BackupNotWritten, match="could not be written"):
        made(settings_of(home), tmp_path / "file" / "b.zip")


def test_a_killed_backup_leaves_no_half_and_the_next_one_clears_up(
    home: Path, tmp_path: Path
) -> None:
    place = tmp_path / "b.zip"
    with standing("backup", str(home), str(place)) as process:
        with pytest.raises(BackupExists, match="Another backup is writing"):
            made(settings_of(home), place)
        process.kill()
        process.wait()
    between = names(tmp_path)

    made(settings_of(home), tmp_path / "other.zip")

    assert between == [".b.zip.unfinished"]
    assert names(tmp_path) == ["other.zip"]


def test_what_is_written_after_the_moment_is_not_in_it_and_what_was_before_is(
    tmp_path: Path,
) -> None:
    settings = fill(tmp_path / "home", items=50)
    before = held(settings)
    with open_store(settings) as store:

        def write(reached: Progress) -> None:
            # Once the tables are packed their moment is over.
            number = 9_999 if reached.what.startswith("packing") else 1
            store.session.engine.put(PutItem("grandstand-leases", lease(number)))

        written = back_up(
            settings, tmp_path / "b.zip", clock=CLOCK, report=write, force=False, simulated=False
        )

    restored = settings_of(tmp_path / "other")
    restore(restored, written.path, clock=CLOCK, report=silent, force=False)

    assert held(restored) == before
    assert held(settings) != before


def test_simulated_data_is_left_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    settings = fill(tmp_path / "home", items=5)
    apart = settings_of(tmp_path / "home" / "simulated")
    with open_store(apart) as store:
        store.create([])
    engine = open_series(apart)
    engine.prepare(TRADES)
    engine.append(TRADES, [trade(1)])
    engine.close()

    without = made(settings, tmp_path / "without.zip").manifest
    everything = made(settings, tmp_path / "with.zip", simulated=True).manifest
    other = settings_of(tmp_path / "other")
    restore(other, tmp_path / "with.zip", clock=CLOCK, report=silent, force=False)

    assert not [file for file in without.files if file.name.startswith("simulated")]
    assert everything.series == {"trades": 101, "simulated/trades": 1}
    assert names(other.home / "simulated") == ["series", "tables.db"]


def test_tables_in_a_file_elsewhere_are_in_the_backup_too(tmp_path: Path) -> None:
    fill(tmp_path / "home", items=5)
    elsewhere = tmp_path / "elsewhere.db"
    (tmp_path / "home" / "tables.db").rename(elsewhere)
    settings = settings_of(tmp_path / "home", tables=f"sqlite:{elsewhere}")

    written = made(settings, tmp_path / "b.zip")

    assert written.manifest.tables["grandstand-leases"] == 5


def test_a_backup_goes_to_a_place_apart(home: Path) -> None:
    with pytest.raises(InvalidInput, match="Choose another folder"):
        made(settings_of(home), home / "backups" / "b.zip")

    assert not (home / "backups").exists()


def test_where_nothing_is_embedded_it_says_what_to_do_instead(tmp_path: Path) -> None:
    remote = settings_of(tmp_path, tables="dynamodb:eu-west-1", series="host=db dbname=x")

    with pytest.raises(InvalidInput, match="grandstand copy --to sqlite"):
        made(remote, tmp_path / "b.zip")
