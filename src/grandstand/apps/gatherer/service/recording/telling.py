"""Kept here: a recorder at work, as others are told of it."""

from __future__ import annotations

from typing import Any

from grandstand.apps.gatherer.service.recording.connection import Connection
from grandstand.apps.gatherer.service.recording.recorder import Recorder
from grandstand.apps.gatherer.service.values import ConnectionView, Ingest


def ingest_of(recorder: Recorder) -> Ingest:
    """Answer how recording goes."""
    figures, buffer, lag = recorder.figures, recorder.buffer.status(), recorder.writer.lag
    tape, disk = recorder.writer.tape, recorder.disk
    connections = recorder.pool.connections
    return Ingest(
        state="recording",
        gatherer=recorder.plan.gatherer,
        why=recorder.writer.full,
        started_at=recorder.started_at,
        markets=len(recorder.pool.followed),
        stale=sum(len(each.feed.stale) for each in connections),
        frames=sum(each.frames for each in connections),
        frames_per_second=recorder.pace.per_second,
        frame_bytes=sum(each.bytes for each in connections),
        rows=dict(figures.rows),
        waiting_rows=buffer.waiting_rows + recorder.writer.waiting,
        waiting_bytes=buffer.waiting_bytes,
        spilled_rows=buffer.spilled_rows,
        lag_median_seconds=lag.seconds(0.5),
        lag_p99_seconds=lag.seconds(0.99),
        gaps_opened={str(reason): count for reason, count in figures.gaps_opened.items()},
        gaps_closed=figures.gaps_closed,
        gaps_open=sum(len(each.feed.open_gaps) for each in connections),
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
        connections=tuple(map(_view, connections)),
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


def _view(connection: Connection) -> ConnectionView:
    subscriptions = connection.subscriptions
    return ConnectionView(
        number=connection.number,
        conn=connection.conn,
        markets=len(subscriptions.wanted),
        waiting=len(subscriptions.wanted) - len(subscriptions.placed),
        stale=len(connection.feed.stale),
        subscriptions=len(subscriptions.sids) + len(subscriptions.told),
        frames=connection.frames,
        heard_at=connection.heard_at,
        lost=connection.lost,
    )
