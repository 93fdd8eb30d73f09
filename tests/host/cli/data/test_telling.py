"""Long work is told in bars to a terminal, and in few lines elsewhere."""

from __future__ import annotations

import pytest

from grandstand.base.clock import ManualClock
from grandstand.host.cli.data.telling import size, telling, told
from grandstand.host.moving.progress import Reached


def test_elsewhere_a_line_comes_every_few_seconds_and_when_something_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = ManualClock()

    with telling(clock) as tell:
        tell(Reached("copy", 1, 3, "items"))
        clock.advance(6)
        tell(Reached("copy", 2, 3, "items"))
        tell(Reached("copy", 3, 3, "items"))
        tell(Reached("copy", 3, 3, "items"))
        tell(Reached("empty", 0, 0, "items"))

    assert capsys.readouterr().err.splitlines() == ["copy: 2 items of 3", "copy: 3 items"]


def test_a_terminal_gets_a_bar_that_goes_when_the_work_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    with telling(ManualClock()) as tell:
        tell(Reached("first", 1_000, 4_000, "items"))
        tell(Reached("second", 1_500_000, None, "bytes"))

    assert "second" in capsys.readouterr().err


def test_amounts_are_written_for_people() -> None:
    assert [size(number) for number in (0, 999, 1_000, 62_349_312, 5 * 10**12)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "62.3 MB",
        "5.0 TB",
    ]
    assert told(Reached("x", 1_000, 2_000, "bytes")) == "1.0 kB of 2.0 kB"
    assert told(Reached("x", 12_345, None, "rows")) == "12,345 rows"
