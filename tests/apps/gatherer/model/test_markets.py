"""The registry knows what is listed, what was told, and what the clock does untold."""

from typing import Any

import pytest

from grandstand.apps.gatherer.model.markets import Change, Choice, Market, Registry, Why
from grandstand.apps.gatherer.model.messages import Lifecycle

A, B = "KXA-1", "KXB-7"


def event(kind: str, ticker: str = A, **said: Any) -> Lifecycle:
    return Lifecycle(sid=1, seq=1, ticker=ticker, event_type=kind, said="{}", **said)


def registry(*markets: Market, at: int = 0) -> Registry:
    known = Registry()
    known.listed(markets, at)
    return known


def statuses(changes: tuple[Change, ...]) -> list[tuple[str, str | None]]:
    return [(each.ticker, each.new.status if each.new else None) for each in changes]


def test_a_listed_market_is_a_change_once() -> None:
    known = Registry()
    market = Market(A, status="active")

    first, second = known.listed([market], 10), known.listed([market], 20)

    assert first == (Change(10, Why.LISTED, None, market),)
    assert second == ()


def test_a_market_opens_by_the_clock_without_an_event() -> None:
    known = registry(Market(A, open_ts=100, close_ts=200))

    due = known.next_due()
    early, opened = known.tick(99), known.tick(100)

    assert due == 100
    assert early == ()
    assert statuses(opened) == [(A, "active")]
    assert opened[0].began


def test_a_market_closes_by_the_clock_without_an_event() -> None:
    known = registry(Market(A, status="active", close_ts=200))

    closed = known.tick(250)

    assert statuses(closed) == [(A, "closed")]
    assert closed[0].ended
    assert known.next_due() is None


def test_opening_and_closing_both_come_when_the_clock_jumps() -> None:
    known = registry(Market(A, open_ts=100, close_ts=200), Market(B, open_ts=100, close_ts=900))

    changes = known.tick(300)

    assert sorted(statuses(changes)) == [(A, "closed"), (B, "active")]


def test_a_close_that_is_moved_is_waited_for_anew() -> None:
    known = registry(Market(A, status="active", close_ts=200))

    known.told(event("close_date_updated", close_ts=500), 150)
    early, late = known.tick(300), known.tick(500)

    assert early == ()
    assert statuses(late) == [(A, "closed")]


def test_a_close_that_is_moved_forward_reopens_a_closed_market() -> None:
    known = registry(Market(A, status="active", close_ts=200))
    known.tick(200)

    changes = known.told(event("close_date_updated", close_ts=500), 250)

    assert statuses(changes) == [(A, "active")]
    assert changes[0].began


def test_a_market_told_of_before_it_is_listed_is_known() -> None:
    known = Registry()

    changes = known.told(event("created", B, open_ts=100, event_ticker="KXB", title="Rain?"), 50)

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

    known.told(event(kind, **said), 50)

    found = known.find(A)
    assert found is not None
    assert found.status == status


def test_an_event_of_an_unknown_kind_changes_nothing() -> None:
    known = registry(Market(A, status="active"))

    changes = known.told(event("novelty"), 50) + known.told(event("novelty", B), 50)

    assert changes == ()
    assert known.find(B) is None


def test_a_reconcile_removes_what_is_no_longer_listed() -> None:
    known = registry(Market(A, status="active"), Market(B, status="active"), at=10)

    changes = known.reconciled([Market(B, status="active")], began_at=50, at=60)

    assert changes == (Change(60, Why.GONE, Market(A, status="active"), None),)
    assert changes[0].ended
    assert len(known) == 1


def test_a_reconcile_keeps_a_market_told_of_while_it_ran() -> None:
    known = Registry()
    known.told(event("created", B), 55)

    changes = known.reconciled([], began_at=50, at=60)

    assert changes == ()
    assert known.find(B) is not None


def test_a_market_that_is_gone_has_no_timer() -> None:
    known = registry(Market(A, status="active", close_ts=200))

    known.reconciled([], began_at=50, at=60)

    assert known.next_due() is None
    assert known.tick(300) == ()


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (Choice(), (A, B)),
        (Choice(series=frozenset({"KXA"})), (A,)),
        (Choice(categories=frozenset({"Sports"})), (B,)),
        (Choice(least_volume_24h=500), (B,)),
        (Choice(tickers=frozenset({A})), (A,)),
        (Choice(tickers=frozenset({A}), least_volume_24h=500), (A, B)),
        (Choice(refused=frozenset({B})), (A,)),
    ],
)
def test_only_chosen_markets_with_a_book_are_wanted(
    choice: Choice, wanted: tuple[str, ...]
) -> None:
    known = registry(
        Market(A, series_ticker="KXA", category="Weather", status="active"),
        Market(B, series_ticker="KXB", category="Sports", status="inactive", volume_24h=500),
        Market("KXC", series_ticker="KXA", category="Sports", status="finalized"),
    )

    found = known.wanted(choice)

    assert found == wanted
