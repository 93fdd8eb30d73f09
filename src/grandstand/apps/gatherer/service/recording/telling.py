"""Kept here: a recorder at work, as others are told of it."""

from __future__ import annotations

from typing import Any

from grandstand.apps.gatherer.service.recording.line import Line
from grandstand.apps.gatherer.service.recording.recorder import Recorder
from grandstand.apps.gatherer.service.values import ConnectionView, Ingest


def ingest_of(recorder: Recorder) -> Ingest:
    """Answer how recording goes."""
    figures, buffer, lag = recorder.figures, recorder.buffer.status(), recorder.writer.lag
    tape, disk = recorder.writer.tape, recorder.disk
    lines = recorder.pool.lines
    return Ingest(
        state="recording",
        gatherer=recorder.plan.gatherer,
        why=recorder.writer.full,
        started_at=recorder.started_at,
        markets=len(recorder.pool.followed),
        stale=sum(len(line.feed.stale) for line in lines),
        frames=sum(line.frames for line in lines),
        frames_per_second=recorder.pace.per_second,
        frame_bytes=sum(line.bytes for line in lines),
        rows=dict(figures.rows),
        waiting_rows=buffer.waiting_rows + recorder.writer.waiting,
        waiting_bytes=buffer.waiting_bytes,
        spilled_rows=buffer.spilled_rows,
        lag_median_seconds=lag.seconds(0.5),
        lag_p99_seconds=lag.seconds(0.99),
        gaps_opened={str(reason): count for reason, count in figures.gaps_opened.items()},
        gaps_closed=figures.gaps_closed,
        gaps_open=sum(len(line.feed.open_gaps) for line in lines),
        duplicates=figures.duplicates,
        refused=figures.refused,
        unknown=figures.unknown,
        unfit=figures.unfit,
        batches=figures.batches,
        reconnects=figures.reconnects,
        errors_told=dict(figures.errors_told),
        tape_frames=0 if tape is None else tape.written_frames,
        tape_bytes=0 if tape is None else tape.written_bytes,
        tape_raw_bytes=0 if tape is None else tape.frame_bytes,
        tape_fault=None if tape is None else tape.fault,
        free_bytes=None if disk is None else disk.free_bytes,
        taken_bytes=None if disk is None else disk.taken_bytes,
        troubles=dict(recorder.troubles),
        connections=tuple(map(_connection, lines)),
    )


def brief(ingest: Ingest) -> dict[str, Any]:
    """Answer the figures an open page shows as they change."""
    return {
        "state": ingest.state,
        "markets": ingest.markets,
        "stale": ingest.stale,
        "frames": ingest.frames,
        "frames_per_second": round(ingest.frames_per_second),
        "waiting_rows": ingest.waiting_rows,
        "spilled_rows": ingest.spilled_rows,
        "lag_p99_seconds": ingest.lag_p99_seconds,
        "gaps_open": ingest.gaps_open,
    }


def _connection(line: Line) -> ConnectionView:
    subscriptions = line.subscriptions
    return ConnectionView(
        number=line.number,
        conn=line.conn,
        markets=len(subscriptions.wanted),
        waiting=len(subscriptions.wanted) - len(subscriptions.placed),
        stale=len(line.feed.stale),
        subscriptions=len(subscriptions.sids) + len(subscriptions.told),
        frames=line.frames,
        heard_at=line.heard_at,
        lost=line.lost,
    )
