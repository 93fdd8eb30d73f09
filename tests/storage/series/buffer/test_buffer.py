"""Rows are sent by size or age, kept while the engine fails, and spilled before memory is full."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from grandstand.apps.gatherer.store import GAPS, SNAPSHOTS, TRADES
from grandstand.core.errors import NotFound
from grandstand.storage.series.buffer import Limits
from grandstand.storage.series.declaration import SeriesFault
from grandstand.storage.series.errors import BufferFull, SeriesUnavailable
from tests.storage.series.buffer.builders import (
    SMALL,
    fill_buffer,
    open_buffer,
    open_failing_engine,
    open_stage,
    same_rows,
    snapshot,
    stored_rows,
    trade,
    trades,
)


def test_a_full_batch_is_sent_at_once_and_a_smaller_one_when_it_is_old(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        stage.buffer.take(TRADES, trades(0, 12))
        first = stage.buffer.turn()
        after_size = stored_rows(tmp_path)
        stage.clock.advance(1.0)
        second = stage.buffer.turn()

        assert (first, second) == (1.0, float("inf"))
        assert same_rows(after_size, trades(0, 10))
        assert same_rows(stored_rows(tmp_path), trades(0, 12))


def test_what_was_taken_is_durable_once_it_was_sent(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        mark = stage.buffer.take(TRADES, trades(0, 3))
        later = stage.buffer.take(SNAPSHOTS, [snapshot(1)])
        before = stage.buffer.durable
        flushed = stage.buffer.flush()

        assert (mark, later, before) == (3, 4, 0)
        assert flushed
        assert stage.buffer.durable == 4
        assert stored_rows(tmp_path, SNAPSHOTS) == [snapshot(1)]


def test_a_failing_engine_keeps_its_batch_backs_off_and_tells(tmp_path: Path) -> None:
    with open_stage(tmp_path, replace(SMALL, spill_after_seconds=1e9)) as stage:
        stage.engine.fails = "before"
        stage.buffer.take(TRADES, trades(0, 10))
        waits = []
        for _ in range(9):
            waits.append(stage.buffer.turn())
            stage.clock.advance(waits[-1])
        failing_status = stage.buffer.status().queues[0]
        stage.engine.fails = ""
        stage.buffer.turn()

        bounds = [min(30.0, 0.5 * 2**number) for number in range(9)]
        assert [bound / 2 <= wait <= bound for wait, bound in zip(waits, bounds, strict=True)] == [
            True
        ] * 9
        assert len(set(waits)) == 9
        assert failing_status.failures == 9
        assert failing_status.last_error == "SeriesUnavailable: made to fail before"
        assert stage.kinds() == ["failed"] * 9 + ["recovered"]
        assert stage.buffer.status().queues[0].next_try_seconds is None
        assert same_rows(stored_rows(tmp_path), trades(0, 10))


def test_a_failing_series_does_not_hold_another_up(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        (tmp_path / "series").mkdir(exist_ok=True)
        (tmp_path / "series" / "trades").write_text("in the way")
        stage.buffer.take(TRADES, [trade(1)])
        stage.buffer.take(SNAPSHOTS, [snapshot(1)])
        stage.clock.advance(2.0)
        stage.buffer.turn()

        assert stored_rows(tmp_path, SNAPSHOTS) == [snapshot(1)]
        assert stage.buffer.status().queues[0].failures == 1
        (tmp_path / "series" / "trades").unlink()


def test_memory_never_grows_past_its_bound_and_nothing_is_dropped(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        stage.engine.fails = "before"
        peak = 0
        for number in range(0, 2_000, 5):
            stage.buffer.take(TRADES, trades(number, number + 5))
            peak = max(peak, stage.buffer.status().waiting_bytes)
        status = stage.buffer.status()
        stage.engine.fails = ""
        flushed = stage.buffer.flush()

        assert SMALL.memory_bytes / 2 < peak <= SMALL.memory_bytes
        assert status.waiting_rows + status.spilled_rows == 2_000
        assert status.spilled_bytes > 0
        assert flushed
        assert same_rows(stored_rows(tmp_path), trades(0, 2_000))
        assert stage.buffer.status().spilled_bytes == 0
        assert [*(tmp_path / "spill" / "trades").iterdir()] == []


def test_rows_too_many_for_memory_go_straight_to_disk(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        mark = stage.buffer.take(TRADES, trades(0, 500))

        assert stage.buffer.durable == mark == 500
        assert stage.buffer.status().waiting_rows == 0
        assert stage.buffer.status().spilled_rows == 500


def test_rows_that_wait_too_long_for_the_engine_are_spilled(tmp_path: Path) -> None:
    with open_stage(tmp_path, replace(SMALL, spill_after_seconds=5.0)) as stage:
        stage.engine.fails = "before"
        mark = stage.buffer.take(TRADES, [trade(1)])
        stage.clock.advance(5.0)
        stage.buffer.turn()

        assert stage.buffer.durable == mark
        assert stage.buffer.status().spilled_rows == 1


def test_memory_and_disk_full_refuses_all_of_it_and_loses_nothing(tmp_path: Path) -> None:
    with open_stage(tmp_path, replace(SMALL, spill_bytes=10_000)) as stage:
        stage.engine.fails = "before"
        taken, said = fill_buffer(stage.buffer)
        status = stage.buffer.status()
        stage.engine.fails = ""
        stage.buffer.flush()
        again = stage.buffer.take(TRADES, trades(taken, taken + 5))

        assert "the limit for spilled rows is reached" in said
        assert status.waiting_rows + status.spilled_rows == status.taken == taken
        assert status.spilled_bytes <= 10_000
        assert status.waiting_bytes <= SMALL.memory_bytes
        assert same_rows(stored_rows(tmp_path), trades(0, taken))
        assert again == taken + 5


def test_closing_spills_what_cannot_be_sent_and_the_next_start_sends_it(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        stage.engine.fails = "before"
        stage.buffer.take(TRADES, trades(0, 7))
        stage.buffer.take(SNAPSHOTS, [snapshot(1)])
        stage.buffer.close()
        before = stored_rows(tmp_path)
    with open_stage(tmp_path) as stage:
        stage.buffer.turn()

        assert before == []
        assert stage.buffer.status().spilled_rows == 0
    assert same_rows(stored_rows(tmp_path), trades(0, 7))
    assert stored_rows(tmp_path, SNAPSHOTS) == [snapshot(1)]


def test_closing_sends_what_it_can(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        stage.buffer.take(TRADES, trades(0, 25))
        stage.buffer.close()

        assert same_rows(stored_rows(tmp_path), trades(0, 25))
        assert [*(tmp_path / "spill" / "trades").iterdir()] == []


def test_closing_without_any_room_says_so_and_may_be_done_again(tmp_path: Path) -> None:
    with open_stage(tmp_path, replace(SMALL, spill_bytes=10)) as stage:
        stage.engine.fails = "before"
        stage.buffer.take(TRADES, trades(0, 7))
        with pytest.raises(BufferFull):
            stage.buffer.close()
        waiting = stage.buffer.status().waiting_rows
        stage.engine.fails = ""
        stage.buffer.close()

        assert waiting == 7
    assert same_rows(stored_rows(tmp_path), trades(0, 7))


def test_settling_spills_what_the_engine_does_not_take(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        stage.engine.fails = "before"
        stage.buffer.take(TRADES, trades(0, 7))
        settled = stage.buffer.settle()

        assert settled == stage.buffer.durable == 7
        assert stage.buffer.status().waiting_rows == 0


def test_a_closed_buffer_takes_nothing(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        stage.buffer.close()

        with pytest.raises(SeriesUnavailable, match="closed"):
            stage.buffer.take(TRADES, [trade(1)])


def test_a_row_that_does_not_fit_is_refused_with_all_that_came_along(tmp_path: Path) -> None:
    wrong = trade(2)._replace(price=2**40)
    with open_stage(tmp_path) as stage:
        with pytest.raises(SeriesFault):
            stage.buffer.take(TRADES, [trade(1), wrong])

        assert stage.buffer.status().taken == 0


def test_a_series_the_buffer_was_not_opened_for_is_not_found(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage, pytest.raises(NotFound, match="gaps"):
        stage.buffer.take(GAPS, [])


def test_a_folder_belongs_to_one_buffer_at_a_time(tmp_path: Path) -> None:
    with open_stage(tmp_path), pytest.raises(SeriesUnavailable, match="another buffer"):
        open_buffer(tmp_path, lambda: open_failing_engine(tmp_path))


def test_an_engine_that_cannot_be_opened_yet_is_tried_again(tmp_path: Path) -> None:
    engines = iter([SeriesUnavailable("not up"), open_failing_engine(tmp_path)])

    def connect() -> object:
        found = next(engines)
        if isinstance(found, SeriesUnavailable):
            raise found
        return found

    buffer = open_buffer(tmp_path, connect)  # type: ignore[arg-type]
    buffer.take(TRADES, [trade(1)])

    first, second = buffer.flush(), buffer.flush()

    assert (first, second) == (False, True)
    buffer.close()
    assert stored_rows(tmp_path) == [trade(1)]


def test_threads_take_while_another_sends(tmp_path: Path) -> None:
    limits = Limits(batch_rows=200, age_seconds=0.01, memory_bytes=150_000)
    buffer = open_buffer(tmp_path, lambda: open_failing_engine(tmp_path), limits)
    sender = threading.Thread(target=buffer.run)

    def feed(first: int) -> None:
        for number in range(first, first + 5_000, 25):
            buffer.take(TRADES, trades(number, number + 25))

    feeders = [threading.Thread(target=feed, args=(at,)) for at in (0, 5_000, 10_000)]
    for thread in (sender, *feeders):
        thread.start()
    for thread in feeders:
        thread.join()
    buffer.close()
    sender.join(60)

    assert not sender.is_alive()
    with open_stage(tmp_path) as stage:
        assert stage.buffer.flush()
    assert same_rows(stored_rows(tmp_path), trades(0, 15_000))
