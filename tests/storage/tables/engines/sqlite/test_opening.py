"""Files that are new, foreign, newer, damaged, full or closed to writing: a clear error each."""

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.engines.sqlite import Durability, SqliteEngine
from grandstand.storage.tables.errors import (
    StoreDamaged,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)
from grandstand.storage.tables.requests import (
    DeleteItem,
    PutItem,
    ScanRequest,
    Transaction,
    UpdateItem,
)
from tests.storage.tables.engines.sqlite.plays import KEY, PLAYS, TEAMS, find, numbers, play, put

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path, clock: ManualClock) -> Path:
    """A store with one item in it."""
    path = tmp_path / "store.db"
    engine = SqliteEngine.open(path, clock=clock)
    engine.create_table(PLAYS)
    put(engine, play(1))
    engine.close()
    return path


@pytest.fixture
def common_folder() -> Iterator[Path]:
    """A folder that other users may look into, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Give up root's right to write anywhere, where the tests run as root."""
    user = os.geteuid()
    os.seteuid(NOBODY if user == 0 else user)
    try:
        yield
    finally:
        os.seteuid(user)


def pragma(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA {statement}")
    connection.close()


@pytest.mark.parametrize("durability", ["process", "power"])
def test_what_was_written_is_there_when_opened_again(
    tmp_path: Path, clock: ManualClock, durability: Durability
) -> None:
    path = tmp_path / "deep" / "er" / "store.db"
    first = SqliteEngine.open(path, clock=clock, durability=durability)
    first.create_table(PLAYS)
    put(first, play(1))
    first.close()

    again = SqliteEngine.open(path, clock=clock, durability=durability)

    assert find(again, play(1)) == play(1)
    again.close()


@pytest.mark.parametrize(("durability", "level"), [("process", 1), ("power", 2)])
def test_durability_decides_whether_a_commit_waits_for_the_disk(
    tmp_path: Path, clock: ManualClock, durability: Durability, level: int
) -> None:
    engine = SqliteEngine.open(tmp_path / "s.db", clock=clock, durability=durability)

    found = engine._local.context.connection.execute("PRAGMA synchronous").fetchone()  # noqa: SLF001 - unseen

    assert found == (level,)
    engine.close()


@pytest.mark.parametrize(("read_only", "create"), [(True, True), (False, False)])
def test_a_store_is_made_only_where_that_is_asked(
    tmp_path: Path, clock: ManualClock, *, read_only: bool, create: bool
) -> None:
    with pytest.raises(StoreUnavailable, match="There is no store at"):
        SqliteEngine.open(tmp_path / "s.db", clock=clock, read_only=read_only, create=create)

    assert list(tmp_path.iterdir()) == []


def test_a_store_opened_for_reading_cannot_be_written(path: Path, clock: ManualClock) -> None:
    engine = SqliteEngine.open(path, clock=clock, read_only=True)
    writes: list[Callable[[], object]] = [
        lambda: put(engine, play(2)),
        lambda: engine.update(UpdateItem("plays", {**KEY, "play": "p2"})),
        lambda: engine.delete(DeleteItem("plays", KEY)),
        lambda: engine.batch_write([PutItem("plays", play(2))]),
        lambda: engine.transact_write(Transaction((PutItem("plays", play(2)),))),
        lambda: engine.create_table(TEAMS),
    ]

    for write in writes:
        with pytest.raises(StoreReadOnly, match="is read-only"):
            write()

    assert numbers(engine.scan(ScanRequest("plays")).items) == [1]
    engine.close()


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o755), (0o444, 0o555)])
def test_a_file_or_folder_closed_to_writing_is_still_read(
    common_folder: Path, clock: ManualClock, file_mode: int, folder_mode: int
) -> None:
    path = common_folder / "store.db"
    engine = SqliteEngine.open(path, clock=clock)
    engine.create_table(PLAYS)
    put(engine, play(1))
    engine.close()
    path.chmod(file_mode)
    common_folder.chmod(folder_mode)

    with unprivileged():
        closed = SqliteEngine.open(path, clock=clock)
        found = find(closed, play(1))
        with pytest.raises(StoreReadOnly, match="Make the file and its folder writable"):
            put(closed, play(2))
        closed.close()

    common_folder.chmod(0o755)
    assert found == play(1)


def test_a_folder_closed_to_writing_takes_no_new_store(
    common_folder: Path, clock: ManualClock
) -> None:
    common_folder.chmod(0o555)

    with unprivileged(), pytest.raises(StoreReadOnly):
        SqliteEngine.open(common_folder / "store.db", clock=clock)
    with unprivileged(), pytest.raises(StoreReadOnly):
        SqliteEngine.open(common_folder / "more" / "store.db", clock=clock)

    common_folder.chmod(0o755)


def test_a_store_of_a_newer_version_is_left_alone(path: Path, clock: ManualClock) -> None:
    pragma(path, "user_version = 99")
    before = path.read_bytes()

    with pytest.raises(StoreTooNew, match="has file version 99"):
        SqliteEngine.open(path, clock=clock)

    assert path.read_bytes() == before


def test_a_file_of_another_program_is_left_alone(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE things(a)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreDamaged, match="is not a Grandstand store"):
        SqliteEngine.open(path, clock=clock)

    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_told_to_be_damaged(path: Path, clock: ManualClock) -> None:
    path.write_bytes(b"these are not the bytes of a database " * 500)

    with pytest.raises(StoreDamaged, match="Restore it from a backup"):
        SqliteEngine.open(path, clock=clock)


def test_damage_within_a_file_is_told_and_never_taken_for_data(
    path: Path, clock: ManualClock
) -> None:
    engine = SqliteEngine.open(path, clock=clock)
    put(engine, *(play(n, note="x" * 900) for n in range(200)))
    engine.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:16_384] + b"\xa7" * (len(whole) - 16_384))

    damaged = SqliteEngine.open(path, clock=clock)
    with pytest.raises(StoreDamaged, match="Restore it from a backup"):
        damaged.scan(ScanRequest("plays"))

    damaged.close()


def test_an_item_whose_bytes_are_damaged_is_told(path: Path, clock: ManualClock) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE t1_1 SET item = x'c1c1c1'")
    connection.commit()
    connection.close()

    engine = SqliteEngine.open(path, clock=clock)
    with pytest.raises(StoreDamaged, match="has an item that cannot be decoded"):
        find(engine, play(1))

    engine.close()


def test_a_full_disk_refuses_the_write_and_keeps_the_rest(path: Path, clock: ManualClock) -> None:
    engine = SqliteEngine.open(path, clock=clock)
    connection = engine._local.context.connection  # noqa: SLF001 - a full disk cannot be had otherwise
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    large = [play(n, note="x" * 100_000) for n in range(2, 5)]
    writes: list[Callable[[], object]] = [
        lambda: put(engine, large[0]),
        lambda: engine.batch_write([PutItem("plays", item) for item in large]),
        lambda: engine.transact_write(
            Transaction((PutItem("plays", play(9)), PutItem("plays", large[0])))
        ),
        lambda: engine.create_table(TEAMS),
    ]

    for write in writes:
        with pytest.raises(StoreUnavailable, match="is full; nothing was written"):
            write()

    assert numbers(engine.scan(ScanRequest("plays")).items) == [1]
    connection.execute("PRAGMA max_page_count = 1000000")
    put(engine, large[0])
    assert find(engine, large[0]) == large[0]
    engine.close()


def test_a_closed_store_says_so_and_may_be_closed_again(path: Path, clock: ManualClock) -> None:
    engine = SqliteEngine.open(path, clock=clock)

    engine.close()
    engine.close()

    with pytest.raises(StoreUnavailable, match="is closed"):
        find(engine, play(1))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")
def test_a_store_opened_sparingly_is_not_mapped_into_memory(path: Path, clock: ManualClock) -> None:
    engine = SqliteEngine.open(path, clock=clock, low_memory=True)
    found = find(engine, play(1))

    mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    engine.close()

    assert found == play(1)
    assert f"{path}\n" not in mapped
