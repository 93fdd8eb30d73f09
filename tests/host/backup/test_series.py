"""Series copied to a server and back arrive whole, also after a stop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from grandstand.apps.gatherer.store import TRADES
from grandstand.core.errors import InvalidInput, NotFound
from grandstand.host.backup.archive import Progress
from grandstand.host.backup.copying import SeriesCopyRequest, SeriesCopyResult, copy_series
from grandstand.host.settings import Settings
from tests.host.backup.making import CLOCK, fill, held, settings_of, silent
from tests.host.backup.worker import HastyClock

CHUNKS = SecretStr("chunks")


class Stopped(Exception):
    """The work is stopped here."""


@pytest.fixture
def server(own_database: str) -> SecretStr:
    """Where rows are moved to."""
    return SecretStr(own_database)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A filled home."""
    return fill(tmp_path / "home", items=5)


def copied(settings: Settings, order: SeriesCopyRequest) -> SeriesCopyResult:
    [moved] = copy_series(settings, order, CLOCK, silent).parts
    return moved


def test_a_stopped_copy_goes_on_with_the_next_chunk_and_ends_equal_there_and_back(
    settings: Settings, server: SecretStr, tmp_path: Path
) -> None:
    told: list[Progress] = []

    def stop(reached: Progress) -> None:
        if reached.what == "copy of trades" and reached.done > 60:
            raise Stopped

    order = SeriesCopyRequest(CHUNKS, server, (TRADES,))
    with pytest.raises(Stopped):
        copy_series(settings, order, HastyClock(), stop)
    looked = copied(settings, replace(order, check=True))
    moved = copy_series(settings, order, CLOCK, told.append)
    again = copied(settings, order)
    other = settings_of(tmp_path / "other")
    (tmp_path / "other" / "series").mkdir(parents=True)
    back = copied(other, SeriesCopyRequest(server, CHUNKS, (TRADES,)))

    [trades] = moved.parts
    assert not looked.equal
    assert moved.resumed_from is not None, "looking in between changes nothing"
    assert told[0].done > 60
    # The rows of the chunk it was stopped in were there already.
    assert (trades.read, trades.added, trades.equal) == (101, 61, True)
    assert trades.target.rows == 101
    assert (again.read, again.added, again.equal) == (101, 0, True)
    assert back.target == trades.source
    assert held(other)[1] == held(settings)[1]


def test_a_comparison_alone_copies_nothing(settings: Settings, server: SecretStr) -> None:
    looked = copied(settings, SeriesCopyRequest(CHUNKS, server, (TRADES,), check=True))

    assert (looked.read, looked.source.rows, looked.target.rows) == (0, 101, 0)
    assert not looked.equal


def test_places_that_cannot_be_are_refused_without_telling_them(
    settings: Settings, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="Source and target are the same"):
        copied(settings, SeriesCopyRequest(CHUNKS, CHUNKS, (TRADES,)))
    with pytest.raises(NotFound, match="No series in"):
        copied(settings_of(tmp_path / "none"), SeriesCopyRequest(CHUNKS, SecretStr("x"), (TRADES,)))
    with pytest.raises(InvalidInput, match="series is invalid") as refused:
        copied(settings, SeriesCopyRequest(CHUNKS, SecretStr("secret place"), (TRADES,)))

    assert "secret" not in str(refused.value)
