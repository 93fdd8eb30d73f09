"""The registry knows what is listed, what was told, and what the clock does untold."""

from typing import Any

import pytest

from grandstand.apps.gatherer.domain.markets import (
    ChangeReason,
    Market,
    MarketChange,
    MarketFilter,
    MarketIndex,
)
from grandstand.apps.gatherer.domain.messages import LifecycleMessage

A, B = "KXA-1", "KXB-7"


def is_live(market: Market | None) -> bool:
    return market is not None and market.live


def began(change: MarketChange) -> bool:
    return is_live(change.new) and not is_live(change.old)


def ended(change: MarketChange) -> bool:
    return is_live(change.old) and not is_live(change.new)


def event(kind: str, ticker: str = A, **said: Any) -> LifecycleMessage:
    return LifecycleMessage(sid=1, seq=1, ticker=ticker, event_type=kind, raw="{}", **said)


def registry(*markets: Market, at: int = 0) -> MarketIndex:
    known = MarketIndex()
    known.update(markets, at)
    return known


def statuses(changes: tuple[MarketChange, ...]) -> list[tuple[str, str | None]]:
    return [(each.ticker, each.new.status if each.new else None) for each in changes]


def test_a_listed_market_is_a_change_once() -> None:
    known = MarketIndex()
    market = Market(A, status="active")

    first, second = known.update([market], 10), known.update([market], 20)

    assert first == (MarketChange(10, ChangeReason.LISTED, None, market),)
    assert second == ()


def test_a_market_opens_by_the_clock_without_an_event() -> None:
    known = registry(Market(A, open_ts=100, close_ts=200))

    due = known.next_due()
    early, opened = known.tick(99), known.tick(100)

    assert due == 100
    assert early == ()
    assert statuses(opened) == [(A, "active")]
    assert began(opened[0])


def test_a_market_closes_by_the_clock_without_an_event() -> None:
    known = registry(Market(A, status="active", close_ts=200))

    closed = known.tick(250)

    assert statuses(closed) == [(A, "closed")]
    assert ended(closed[0])
    assert known.next_due() is None


def test_opening_and_closing_both_come_when_the_clock_jumps() -> None:
    known = registry(Market(A, open_ts=100, close_ts=200), Market(B, open_ts=100, close_ts=900))

    changes = known.tick(300)

    assert sorted(statuses(changes)) == [(A, "closed"), (B, "active")]


def test_a_close_that_is_moved_is_waited_for_anew() -> None:
    known = registry(Market(A, status="active", close_ts=200))

    known.apply_event(event("close_date_updated", close_ts=500), 150)
    early, late = known.tick(300), known.tick(500)

    assert early == ()
    assert statuses(late) == [(A, "closed")]


def test_a_close_that_is_moved_forward_reopens_a_closed_market() -> None:
    known = registry(Market(A, status="active", close_ts=200))
    known.tick(200)

    changes = known.apply_event(event("close_date_updated", close_ts=500), 250)

    assert statuses(changes) == [(A, "active")]
    assert began(changes[0])


def test_a_market_told_of_before_it_is_listed_is_known() -> None:
    known = MarketIndex()

    changes = known.apply_event(
        event("created", B, open_ts=100, event_ticker="KXB", title="Rain?"), 50
    )

    assert changes[0].new == Market(B, event_ticker="KXB", title="Rain?", open_ts=100)
    assert known.next_due() == 100


@pytest.mark.parametrize(
    ("kind", "said", "status"),
    [
        ("activated", {}, "active"),
        ("deactivated", {"is_deactivated": True}, "inactive"),
        ("deactivated", {"is_deactivated": False}, "active"),
        ("determined", {"result": "yes"}, "determined"),
        ("settled", {}, "finalized"),
    ],
)
def test_each_event_gives_a_market_its_status(kind: str, said: dict[str, Any], status: str) -> None:
    known = registry(Market(A, status="closed"))

    known.apply_event(event(kind, **said), 50)

    found = known.markets.get(A)
    assert found is not None
    assert found.status == status


def test_an_event_of_an_unknown_kind_changes_nothing() -> None:
    known = registry(Market(A, status="active"))

    changes = known.apply_event(event("novelty"), 50) + known.apply_event(event("novelty", B), 50)

    assert changes == ()
    assert known.markets.get(B) is None


def test_a_reconcile_removes_what_is_no_longer_listed() -> None:
    known = registry(Market(A, status="active"), Market(B, status="active"), at=10)

    changes = known.reconcile([Market(B, status="active")], began_at=50, at=60)

    assert changes == (MarketChange(60, ChangeReason.GONE, Market(A, status="active"), None),)
    assert ended(changes[0])
    assert len(known.markets) == 1


def test_a_reconcile_keeps_a_market_told_of_while_it_ran() -> None:
    known = MarketIndex()
    known.apply_event(event("created", B), 55)

    changes = known.reconcile([], began_at=50, at=60)

    assert changes == ()
    assert known.markets.get(B) is not None


def test_a_market_that_is_gone_has_no_timer() -> None:
    known = registry(Market(A, status="active", close_ts=200))

    known.reconcile([], began_at=50, at=60)

    assert known.next_due() is None
    assert known.tick(300) == ()


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (MarketFilter(), (A, B)),
        (MarketFilter(series=frozenset({"KXA"})), (A,)),
        (MarketFilter(categories=frozenset({"Sports"})), (B,)),
        (MarketFilter(min_volume_24h=500), (B,)),
        (MarketFilter(tickers=frozenset({A})), (A,)),
        (MarketFilter(tickers=frozenset({A}), min_volume_24h=500), (A, B)),
    ],
)
def test_only_chosen_markets_with_a_book_are_wanted(
    choice: MarketFilter, wanted: tuple[str, ...]
) -> None:
    known = registry(
        Market(A, series_ticker="KXA", category="Weather", status="active"),
        Market(B, series_ticker="KXB", category="Sports", status="inactive", volume_24h=500),
        Market("KXC", series_ticker="KXA", category="Sports", status="finalized"),
    )

    found = tuple(
        ticker
        for ticker, market in known.markets.items()
        if market.live and choice.is_wanted(market)
    )

    assert found == wanted
