"""An archive that was changed anywhere is refused, or gives what was written all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from grandstand.host.backup.archive import (
    ArchiveDamaged,
    ArchiveReader,
    ArchiveWriter,
    Manifest,
    NoArchive,
)

CONTENT = {"tables.db": b"abc" * 50, "series/ticks/0.parquet": b"xyz" * 20}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A small archive."""
    path, piece = tmp_path / "b.zip", tmp_path / "piece"
    with ArchiveWriter.open(path, "2026-01-01T00:00:00+00:00") as writer:
        for name, content in CONTENT.items():
            piece.write_bytes(content)
            writer.add(name, piece)
        writer.finish({"t": 1}, {"ticks": 2}, simulated=False)
    return path


def unpacked(path: Path, to: Path) -> tuple[Manifest, dict[str, bytes]]:
    with ArchiveReader.open(path) as reader:
        reader.unpack(to, lambda _name, _done: None)
        return reader.manifest, {name: (to / name).read_bytes() for name in CONTENT}


def outcome(path: Path, to: Path) -> object:
    try:
        return unpacked(path, to)
    except (ArchiveDamaged, NoArchive) as refused:
        return type(refused)


def test_what_was_written_is_unpacked_and_counted(archive: Path, tmp_path: Path) -> None:
    manifest, content = unpacked(archive, tmp_path / "out")

    assert content == CONTENT
    assert (manifest.tables, manifest.series) == ({"t": 1}, {"ticks": 2})
    assert manifest.size_bytes == 210


@pytest.mark.parametrize("first", range(4))
def test_no_changed_byte_goes_unnoticed_or_fails_otherwise(
    archive: Path, tmp_path: Path, first: int
) -> None:
    whole = archive.read_bytes()
    right = unpacked(archive, tmp_path / "out")

    outcomes = []
    for at in range(first, len(whole), 8):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        archive.write_bytes(changed)
        outcomes.append(outcome(archive, tmp_path / "out"))

    assert [each for each in outcomes if each not in (right, ArchiveDamaged, NoArchive)] == []
    assert ArchiveDamaged in outcomes
