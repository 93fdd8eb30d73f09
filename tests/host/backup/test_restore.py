"""A restored home equals the one that was backed up; what was there is kept, or untouched."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import msgspec
import pytest

from grandstand.core.errors import Broken, InvalidInput, NotFound
from grandstand.host.backup.archive import ArchiveDamaged, ArchiveTooNew, NoArchive
from grandstand.host.backup.backup import back_up
from grandstand.host.backup.restore import (
    HomeInUse,
    HomeNotEmpty,
    RestoreResult,
    Swap,
    finish,
    restore,
    undo,
)
from grandstand.host.infrastructure import open_store
from grandstand.host.settings import Settings
from tests.host.backup.making import CLOCK, fill, held, names, settings_of, silent, standing


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Settings]:
    """A backup, and the home it is of."""
    folder = tmp_path_factory.mktemp("kept")
    settings = fill(folder / "home", items=60)
    made = back_up(
        settings, folder / "b.zip", clock=CLOCK, report=silent, force=False, simulated=False
    )
    return made.path, settings


def brought_back(settings: Settings, file: Path, *, force: bool = False) -> RestoreResult:
    return restore(settings, file, clock=CLOCK, report=silent, force=force)


def test_an_empty_home_becomes_equal_to_the_original(
    kept: tuple[Path, Settings], tmp_path: Path
) -> None:
    file, original = kept
    settings = settings_of(tmp_path / "home")
    (tmp_path / "home" / "simulated").mkdir(parents=True)
    (tmp_path / "home" / "simulated.lock").touch()

    restored = brought_back(settings, file)

    assert restored.aside is None
    assert (tmp_path / "home" / "simulated").is_dir()
    assert held(settings) == held(original)
    assert (tmp_path / "home" / "gatherer" / "trades" / "1.spill").read_bytes() == b"spilled"
    assert not (tmp_path / "home" / "settings.toml").exists()
    assert not (tmp_path / "home" / ".restoring").exists()


def test_a_home_with_data_is_refused_and_with_force_set_aside_and_put_back(
    kept: tuple[Path, Settings], tmp_path: Path
) -> None:
    file, original = kept
    settings = fill(tmp_path / "home", items=5)
    mine = held(settings)

    with pytest.raises(HomeNotEmpty, match=r"tables\.db.*--force"):
        brought_back(settings, file)
    untouched = held(settings)
    restored = brought_back(settings, file, force=True)
    theirs = held(settings)
    back, aside = undo(settings, clock=CLOCK)

    assert untouched == mine
    assert theirs == held(original)
    assert held(settings) == mine
    assert restored.aside == back
    assert aside is not None
    assert not back.exists()
    assert (tmp_path / "home" / "settings.toml").exists()


@pytest.mark.parametrize("at", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999])
def test_a_damaged_archive_is_refused_and_changes_nothing(
    kept: tuple[Path, Settings], tmp_path: Path, at: float
) -> None:
    file, original = kept
    damaged = tmp_path / "damaged.zip"
    content = bytearray(file.read_bytes())
    place = int(at * len(content))
    content[place : place + 40] = bytes(byte ^ 0x55 for byte in content[place : place + 40])
    damaged.write_bytes(content)
    settings = fill(tmp_path / "home", items=5)
    mine = held(settings)

    with pytest.raises((Broken, InvalidInput)) as refused:
        brought_back(settings, damaged, force=True)

    assert "Use another copy" in str(refused.value)
    assert held(settings) == mine
    assert not (tmp_path / "home" / ".restoring").exists()
    assert held(original)


@pytest.mark.parametrize("part", [0.2, 0.9, 0.9999])
def test_a_part_of_an_archive_is_refused(
    kept: tuple[Path, Settings], tmp_path: Path, part: float
) -> None:
    content = kept[0].read_bytes()
    short = tmp_path / "short.zip"
    short.write_bytes(content[: int(part * len(content))])

    with pytest.raises(NoArchive, match="is incomplete"):
        brought_back(settings_of(tmp_path / "home"), short)

    assert not (tmp_path / "home").exists()


def rewritten(file: Path, to: Path, change: dict[str, object], add: str = "") -> Path:
    """Write an archive again with another manifest, and with a file it does not name."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                content = msgspec.json.encode(msgspec.json.decode(content) | change)
            new.writestr(name, content)
        if add:
            new.writestr(add, b"stranger")
    return to


def test_an_archive_of_a_newer_grandstand_or_with_strange_files_is_refused(
    kept: tuple[Path, Settings], tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "home")
    newer = rewritten(kept[0], tmp_path / "newer.zip", {"form": 2, "files": "elsewhere"})
    strange = rewritten(kept[0], tmp_path / "strange.zip", {}, add="../outside")
    fewer = rewritten(kept[0], tmp_path / "fewer.zip", {"tables": {"grandstand-leases": 61}})
    plain = tmp_path / "plain.zip"
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("letter.txt", b"hello")

    with pytest.raises(ArchiveTooNew, match="Upgrade first"):
        brought_back(settings, newer)
    with pytest.raises(ArchiveDamaged, match="its files do not match the manifest"):
        brought_back(settings, strange)
    with pytest.raises(ArchiveDamaged, match="its items do not match the manifest"):
        brought_back(settings, fewer)
    with pytest.raises(NoArchive, match="is not a Grandstand backup"):
        brought_back(settings, plain)
    with pytest.raises(NotFound, match="No such file"):
        brought_back(settings, tmp_path / "none.zip")

    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "home" / "tables.db").exists()


def test_while_a_program_has_the_tables_open_nothing_is_restored(
    kept: tuple[Path, Settings], tmp_path: Path
) -> None:
    settings = fill(tmp_path / "home", items=5)

    with open_store(settings) as store:
        store.session.engine.list_tables()
        with pytest.raises(HomeInUse, match="Stop `grandstand up` first"):
            brought_back(settings, kept[0], force=True)

    assert not [*(tmp_path / "home").glob("before-restore-*")]


def test_a_killed_restore_has_changed_nothing_and_can_be_done_again(
    kept: tuple[Path, Settings], tmp_path: Path
) -> None:
    settings = fill(tmp_path / "home", items=5)
    mine = held(settings)

    with standing("restore", str(settings.home), str(kept[0])):
        pass
    after = held(settings)
    brought_back(settings, kept[0], force=True)

    assert after == mine
    assert held(settings) == held(kept[1])


@pytest.mark.parametrize("moved", [0, 1, 2, 3, 4])
def test_a_swap_stopped_after_any_move_is_healed_by_the_next(tmp_path: Path, moved: int) -> None:
    home, staged, aside = tmp_path, tmp_path / ".restoring" / "new", tmp_path / "before-restore-1"
    for folder in (staged, aside):
        folder.mkdir(parents=True)
    for name in ("a", "b"):
        (home / name).write_text("old")
        (staged / name).write_text("new")
    pairs = tuple((str(home / name), name) for name in ("a", "b"))
    mark = msgspec.json.encode(Swap(str(staged), str(aside), pairs, pairs))
    (home / ".restoring" / "swap.json").write_bytes(mark)
    moves = [(home / name, aside / name) for name in ("a", "b")]
    moves += [(staged / name, home / name) for name in ("a", "b")]
    for old, new in moves[:moved]:
        shutil.move(old, new)

    finish(home)

    assert [(home / name).read_text() for name in ("a", "b")] == ["new", "new"]
    assert [(aside / name).read_text() for name in ("a", "b")] == ["old", "old"]
    assert names(home) == ["a", "b", "before-restore-1"]
    assert finish(home) is None


def test_settings_that_keep_data_elsewhere_are_told_what_to_do(
    kept: tuple[Path, Settings], tmp_path: Path
) -> None:
    remote = settings_of(tmp_path / "home", tables="dynamodb:eu-west-1")
    server = settings_of(tmp_path / "home", series="host=db dbname=x")

    with pytest.raises(InvalidInput, match="GRANDSTAND_TABLES=sqlite"):
        brought_back(remote, kept[0])
    with pytest.raises(InvalidInput, match="GRANDSTAND_SERIES=chunks"):
        brought_back(server, kept[0])


def test_tables_go_to_the_file_the_settings_name(
    kept: tuple[Path, Settings], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "data" / "mine.db"
    settings = settings_of(tmp_path / "home", tables=f"sqlite:{elsewhere}")

    brought_back(settings, kept[0])
    again = brought_back(settings, kept[0], force=True)
    undo(settings, clock=CLOCK)

    assert elsewhere.is_file()
    assert again.aside is not None
    assert not (tmp_path / "home" / "tables.db").exists()
    assert held(settings) == held(kept[1])


def test_without_a_restore_there_is_nothing_to_undo(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Nothing to undo"):
        undo(settings_of(tmp_path), clock=CLOCK)
