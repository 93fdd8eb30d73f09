"""A simulated world goes on where it was, ends one day, and is not wiped while it is in use."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grandstand.host.demo.world_state import WORLD_LIFETIME, DemoInUse, open_world, wipe
from grandstand.host.settings import Settings

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def test_a_world_is_the_same_when_it_is_opened_again(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with open_world(settings, NOON) as first:
        pass

    with open_world(settings, NOON + timedelta(days=3)) as again:
        assert again == first


def test_a_world_that_is_over_is_wiped_and_made_anew(tmp_path: Path) -> None:
    settings, later = Settings(home=tmp_path), NOON + WORLD_LIFETIME + timedelta(days=1)
    with open_world(settings, NOON) as first:
        (tmp_path / "simulated" / "kept").touch()

    with open_world(settings, later) as second:
        assert second.born_at - first.born_at == WORLD_LIFETIME + timedelta(days=1)
        assert not (tmp_path / "simulated" / "kept").exists()


def test_what_is_in_use_is_not_wiped(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)

    with open_world(settings, NOON), pytest.raises(DemoInUse, match="Stop it first"):
        wipe(settings)

    assert (tmp_path / "simulated").exists()


def test_two_processes_may_use_one_world(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)

    with open_world(settings, NOON) as one, open_world(settings, NOON) as other:
        assert one == other


def test_wiping_removes_what_is_simulated_and_nothing_else(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    (tmp_path / "tables.db").touch()
    with open_world(settings, NOON):
        pass

    wiped = [wipe(settings), wipe(settings)]

    assert wiped == [True, False]
    assert (tmp_path / "tables.db").exists()
