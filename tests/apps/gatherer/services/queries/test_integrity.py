"""What puts a book of one gatherer in doubt."""

import json
from collections.abc import Iterator

import pytest

from grandstand.apps.gatherer.services.queries.integrity import DeltaPath, find_doubt
from grandstand.apps.gatherer.store import GAPS, SESSIONS, GapRecord, Session
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.apps.gatherer.services.recorded_rows import SECOND, START, brief_engines

STREAMS = frozenset({("east", 7, 4)})
EVER = 2**62


@pytest.fixture
def engine() -> Iterator[ChunkEngine]:
    """An engine without rows."""
    with brief_engines(1) as (opened,):
        opened.prepare(GAPS)
        opened.prepare(SESSIONS)
        yield opened


def _way(at_s: int, until: int = EVER) -> DeltaPath:
    return DeltaPath("KXA-1", START, START + at_s * SECOND, until, STREAMS)


def _gap(at_s: int, gatherer: str = "east", tickers: str | None = None) -> GapRecord:
    at = START + at_s * SECOND
    return GapRecord(
        *(at, gatherer, 7, 4, 1),
        resolved=False,
        reason="missed",
        tickers=tickers,
        from_ts=at - 1000,
        to_ts=at,
    )


def _session(at_s: float, what: str, gatherer: str = "east", conn: int = 0) -> Session:
    return Session(START + int(at_s * SECOND), gatherer, conn, what)


def _why(engine: ChunkEngine, way: DeltaPath) -> str:
    return find_doubt(engine, way) or ""


def test_without_anything_known_against_it_nothing_is_in_doubt(engine: ChunkEngine) -> None:
    assert _why(engine, _way(100)) == ""


def test_a_gap_counts_from_then_on_and_only_before_the_next_change(engine: ChunkEngine) -> None:
    engine.append(GAPS, [_gap(50)])

    before, after = _why(engine, _way(40)), _why(engine, _way(60))
    followed = _why(engine, _way(49, until=START + 49 * SECOND + 10))

    assert (before, followed) == ("", "")
    assert "gap (missed)" in after


def test_a_gap_of_other_markets_does_not_count(engine: ChunkEngine) -> None:
    engine.append(GAPS, [_gap(50, tickers=json.dumps(["KXB-2"]))])

    assert _why(engine, _way(60)) == ""


def test_a_killed_process_counts_from_its_last_proof(engine: ChunkEngine) -> None:
    rows = [_session(20, "whole"), _session(90, "started"), _session(120, "whole")]
    engine.append(SESSIONS, rows)

    before, after = _why(engine, _way(17)), _why(engine, _way(50))

    assert before == ""
    assert after.startswith("east was not running")


def test_after_the_last_proof_nothing_is_sure_whatever_change_follows(engine: ChunkEngine) -> None:
    engine.append(SESSIONS, [_session(20, "whole")])

    alone = _why(engine, _way(50))
    followed = _why(engine, _way(50, until=START + 51 * SECOND))

    assert "has no watermark" in alone
    assert "has no watermark" in followed


def test_what_follows_before_the_last_proof_is_sure(engine: ChunkEngine) -> None:
    engine.append(SESSIONS, [_session(51, "whole")])

    followed = _why(engine, _way(50, until=START + 51 * SECOND))
    not_yet = _why(engine, _way(50, until=START + 52 * SECOND))

    assert followed == ""
    assert "has no watermark" in not_yet


def test_only_its_own_connection_counts_when_closed(engine: ChunkEngine) -> None:
    engine.append(SESSIONS, [_session(20, "closed", conn=8), _session(90, "whole")])
    other = _why(engine, _way(50))
    engine.append(SESSIONS, [_session(30, "closed", conn=7)])

    own = _why(engine, _way(50))

    assert other == ""
    assert "connection 7 was closed" in own


def test_a_gap_shown_by_the_very_change_that_follows_counts(engine: ChunkEngine) -> None:
    engine.append(GAPS, [_gap(50)])

    shown = _why(engine, _way(50, until=START + 50 * SECOND))

    assert "gap (missed)" in shown


def test_a_gap_counts_from_the_change_before_it_however_late_it_was_found(
    engine: ChunkEngine,
) -> None:
    engine.append(GAPS, [_gap(50)._replace(from_ts=START + 20 * SECOND)])

    before, after = _why(engine, _way(19)), _why(engine, _way(21))

    assert before == ""
    assert "gap (missed)" in after


def test_a_book_that_was_wrong_was_so_since_nobody_knows_when(engine: ChunkEngine) -> None:
    engine.append(GAPS, [_gap(50)._replace(reason="audit")])

    early = _why(engine, _way(20, until=START + 21 * SECOND))

    assert "gap (audit)" in early
