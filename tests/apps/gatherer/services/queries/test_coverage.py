"""What some gatherer heard of a market and what nobody did, where several are merged."""

import json
from collections.abc import Iterator

import pytest

from grandstand.apps.gatherer.services.queries.integrity import find_uncovered
from grandstand.apps.gatherer.store import (
    EXCHANGE_TIME,
    FOLLOWED,
    GAPS,
    SESSIONS,
    FollowedSince,
    GapRecord,
    Session,
)
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.apps.gatherer.services.recorded_rows import SECOND, START, brief_engines


@pytest.fixture
def engine() -> Iterator[ChunkEngine]:
    """An engine without rows."""
    with brief_engines(1) as (opened,):
        for series in (GAPS, SESSIONS, FOLLOWED):
            opened.prepare(series)
        yield opened


def _at(seconds: float) -> int:
    return START + int(seconds * SECOND)


def _followed(since_s: float, gatherer: str = "east", conn: int = 7) -> FollowedSince:
    return FollowedSince(_at(since_s), "KXA-1", gatherer, conn, 4, _at(since_s))


def _gap(from_s: float, to_s: float | None, gatherer: str = "east", **more: object) -> GapRecord:
    found = GapRecord(
        *(_at(from_s) + 1, gatherer, 7, 4, 1),
        resolved=False,
        reason="missed",
        tickers=json.dumps(["KXA-1"]),
        from_ts=_at(from_s),
        to_ts=None if to_s is None else _at(to_s),
    )
    return found._replace(**more)  # type: ignore[arg-type]


def _session(
    at_s: float, what: str, gatherer: str = "east", conn: int = 0, why: str | None = None
) -> Session:
    return Session(_at(at_s), gatherer, conn, what, why)


def _keep(engine: ChunkEngine, *rows: FollowedSince | GapRecord | Session) -> None:
    engine.append(FOLLOWED, [row for row in rows if isinstance(row, FollowedSince)])
    engine.append(GAPS, [row for row in rows if isinstance(row, GapRecord)])
    engine.append(SESSIONS, [row for row in rows if isinstance(row, Session)])


def _missed(engine: ChunkEngine, after_s: float, until_s: float) -> tuple[float, str] | None:
    """Return from which second on something is not covered, and why."""
    found = find_uncovered(engine, "KXA-1", _at(after_s), _at(until_s))
    return None if found is None else ((found.start - START) / SECOND, found.reason)


def test_a_market_that_somebody_followed_without_a_break_is_covered(engine: ChunkEngine) -> None:
    _keep(engine, _followed(0), _session(100, "whole"))

    assert _missed(engine, 0, 90) is None


def test_what_nobody_is_known_to_have_followed_is_covered_by_nobody(engine: ChunkEngine) -> None:
    _keep(engine, _session(100, "whole"), _session(100, "whole", "west"))

    missed = _missed(engine, 0, 90)

    assert missed is not None
    assert "no gatherer followed" in missed[1]


def test_one_who_never_followed_it_does_not_stand_in_for_another(engine: ChunkEngine) -> None:
    _keep(engine, _followed(0), _gap(20, 21), _session(100, "whole"))
    _keep(engine, _session(100, "whole", "west"))

    missed = _missed(engine, 0, 90)

    assert missed is not None
    assert "east has a gap" in missed[1]


def test_gatherers_that_miss_different_things_cover_each_other(engine: ChunkEngine) -> None:
    for name in ("east", "west"):
        _keep(engine, _followed(0, name), _session(100, "whole", name))
    _keep(engine, _gap(20, 21), _gap(40, 41, "west"))
    different = _missed(engine, 0, 90)
    _keep(engine, _gap(20.5, 22, "west"))

    same = _missed(engine, 0, 90)

    assert different is None
    assert same is not None
    assert same[0] == 20.5


def test_after_what_was_missed_all_is_heard_again(engine: ChunkEngine) -> None:
    _keep(engine, _followed(0), _gap(20, 21), _session(75, "whole"), _session(100, "whole"))

    found = [_missed(engine, 0, 19), _missed(engine, 21, 90), _missed(engine, 20.5, 90)]

    assert [each is None for each in found] == [True, True, False]


def test_a_gap_of_other_markets_or_of_another_subscription_does_not_count(
    engine: ChunkEngine,
) -> None:
    _keep(engine, _followed(0), _session(100, "whole"))
    _keep(engine, _gap(20, 21, tickers=json.dumps(["KXB-2"])), _gap(30, 31, sid=5))
    _keep(engine, _gap(40, 41, conn=8))

    assert _missed(engine, 0, 90) is None


@pytest.mark.parametrize("reason", ["disconnected", "ended", "left", "unseeded"])
def test_a_subscription_that_ended_covers_nothing_until_the_next(
    engine: ChunkEngine, reason: str
) -> None:
    _keep(engine, _followed(0), _gap(20, None, reason=reason), _followed(30, conn=9))
    _keep(engine, _session(75, "whole"), _session(100, "whole"))

    missed = [_missed(engine, 0, 19), _missed(engine, 0, 90), _missed(engine, 30, 90)]

    assert [each and each[0] for each in missed] == [None, 20, None]


@pytest.mark.parametrize("reason", ["negative", "crossed", "audit"])
def test_a_book_that_was_wrong_was_so_since_nobody_knows_when(
    engine: ChunkEngine, reason: str
) -> None:
    _keep(engine, _followed(0), _gap(50, None, reason=reason), _session(100, "whole"))
    _keep(engine, _followed(51))

    early, later = _missed(engine, 10, 20), _missed(engine, 51, 90)

    assert early is not None
    assert later is None


def test_one_who_was_killed_is_relied_on_as_far_as_it_proved(engine: ChunkEngine) -> None:
    _keep(engine, _followed(0), _session(20, "whole"), _session(90, "started"))
    _keep(engine, _followed(91, conn=9), _session(120, "whole"))

    missed = _missed(engine, 0, 95)
    again = _missed(engine, 91, 110)

    assert missed is not None
    assert missed[0] == 18
    assert missed[1].startswith("east was not running")
    assert again is None


def test_a_proof_by_the_exchanges_clock_counts_without_slack(engine: ChunkEngine) -> None:
    _keep(engine, _followed(0), _session(20, "whole", why=EXCHANGE_TIME), _session(90, "started"))

    missed = _missed(engine, 0, 95)

    assert missed is not None
    assert missed[0] == 20


def test_after_the_last_proof_nothing_is_covered(engine: ChunkEngine) -> None:
    _keep(engine, _followed(0), _session(20, "whole"))

    before, after = _missed(engine, 0, 17), _missed(engine, 0, 50)

    assert before is None
    assert after is not None
    assert "has no watermark" in after[1]


def test_a_connection_that_closed_covers_nothing_after_it(engine: ChunkEngine) -> None:
    _keep(engine, _followed(0), _session(30, "closed", conn=7), _session(100, "whole"))
    _keep(engine, _session(40, "closed", conn=8))

    missed = _missed(engine, 0, 90)

    assert missed is not None
    assert missed[0] == 28
    assert "connection 7 was closed" in missed[1]
