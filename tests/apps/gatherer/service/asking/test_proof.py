"""What puts a book in doubt, of one gatherer and of several."""

import json
from collections.abc import Iterator

import pytest

from grandstand.apps.gatherer.service.asking.proof import Way, doubt
from grandstand.apps.gatherer.store import GAPS, SESSIONS, Gap, Session
from grandstand.storage.series.engines.chunks import ChunkEngine
from tests.apps.gatherer.service.recorded import SECOND, START, brief_engines

STREAMS = frozenset({("east", 7, 4)})
EVER = 2**62


@pytest.fixture
def engine() -> Iterator[ChunkEngine]:
    """An engine without rows."""
    with brief_engines(1) as (opened,):
        opened.prepare(GAPS)
        opened.prepare(SESSIONS)
        yield opened


def _way(at_s: int, until: int = EVER) -> Way:
    return Way("KXA-1", START, START + at_s * SECOND, until, STREAMS)


def _gap(at_s: int, gatherer: str = "east", tickers: str | None = None) -> Gap:
    at = START + at_s * SECOND
    return Gap(
        *(at, gatherer, 7, 4, 1),
        resolved=False,
        reason="missed",
        tickers=tickers,
        from_ts=at - 1000,
        to_ts=at,
    )


def _session(at_s: float, what: str, gatherer: str = "east", conn: int = 0) -> Session:
    return Session(START + int(at_s * SECOND), gatherer, conn, what)


def _why(engine: ChunkEngine, way: Way, *, merged: bool = False) -> str:
    return doubt(engine, way, merged=merged) or ""


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


def test_after_the_last_proof_nothing_is_sure_but_what_is_followed(engine: ChunkEngine) -> None:
    engine.append(SESSIONS, [_session(20, "whole")])

    alone = _why(engine, _way(50))
    followed = _why(engine, _way(50, until=START + 51 * SECOND))

    assert "has not proven" in alone
    assert followed == ""


def test_only_its_own_connection_counts_when_closed(engine: ChunkEngine) -> None:
    engine.append(SESSIONS, [_session(20, "closed", conn=8), _session(90, "whole")])
    other = _why(engine, _way(50))
    engine.append(SESSIONS, [_session(30, "closed", conn=7)])

    own = _why(engine, _way(50))

    assert other == ""
    assert "connection 7 was closed" in own


def test_gatherers_that_miss_different_things_leave_nothing_in_doubt(engine: ChunkEngine) -> None:
    engine.append(SESSIONS, [_session(90, "whole", name) for name in ("east", "west")])
    engine.append(GAPS, [_gap(20), _gap(40, "west")])

    different = _why(engine, _way(60), merged=True)
    engine.append(GAPS, [_gap(20, "west")])
    same = _why(engine, _way(60), merged=True)

    assert different == ""
    assert "east has a gap" in same
    assert "west has a gap" in same


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


def test_an_absence_is_a_gap_of_every_market(engine: ChunkEngine) -> None:
    engine.append(SESSIONS, [_session(90, "whole")])
    absence = _gap(50)._replace(conn=0, reason="disconnected", from_ts=None, to_ts=None)
    engine.append(GAPS, [absence])

    before, after = _why(engine, _way(47), merged=True), _why(engine, _way(60), merged=True)

    assert before == ""
    assert "gap (disconnected)" in after
