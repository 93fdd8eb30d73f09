"""Long work is told in bars to a terminal, and in few lines elsewhere."""

from __future__ import annotations

import pytest

from grandstand.core.clock import ManualClock
from grandstand.host.backup.archive import Progress
from grandstand.host.cli.output import format_progress, show_progress


def test_elsewhere_a_line_comes_every_few_seconds_and_when_something_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = ManualClock()

    with show_progress(clock) as tell:
        tell(Progress("copy", 1, 3, "items"))
        clock.advance(6)
        tell(Progress("copy", 2, 3, "items"))
        tell(Progress("copy", 3, 3, "items"))
        tell(Progress("copy", 3, 3, "items"))
        tell(Progress("empty", 0, 0, "items"))

    assert capsys.readouterr().err.splitlines() == ["copy: 2 items of 3", "copy: 3 items"]


def test_a_terminal_gets_a_bar_that_goes_when_the_work_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    with show_progress(ManualClock()) as tell:
        tell(Progress("first", 1_000, 4_000, "items"))
        tell(Progress("second", 1_500_000, None, "bytes"))

    assert "second" in capsys.readouterr().err


def test_amounts_are_formatted_with_units() -> None:
    assert format_progress(Progress("x", 1_000, 2_000, "bytes")) == "1.0\u00a0kB of 2.0\u00a0kB"
    assert format_progress(Progress("x", 12_345, None, "rows")) == "12,345 rows"
