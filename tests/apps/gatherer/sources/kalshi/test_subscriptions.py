"""Markets are asked for in batches, and every refusal has its answer."""

import json
from typing import Any

import pytest

from grandstand.apps.gatherer.sources.kalshi.stream import (
    SubscriptionLimits,
    SubscriptionManager,
)

SMALL = SubscriptionLimits(batch=2, per_subscription=4, in_flight=2, timeout_seconds=5.0)


def _begun(
    markets: str = "", terms: SubscriptionLimits = SMALL, **more: Any
) -> SubscriptionManager:
    found = SubscriptionManager(terms, **more)
    found.follow(markets.split())
    found.reset()
    return found


def _said(subscriptions: SubscriptionManager, now: float = 0.0) -> list[dict[str, Any]]:
    return [json.loads(text) for text in subscriptions.next_commands(now)]


def _brief(said: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return [
        (one["params"].get("action", one["cmd"]), one["params"].get("market_tickers", []))
        for one in said
    ]


def test_the_first_batch_subscribes_and_the_next_ones_are_added_to_it() -> None:
    subscriptions = _begun("A B C D E")

    first = _said(subscriptions)
    subscriptions.on_subscribed(1, "orderbook_delta", 7)
    second = _said(subscriptions)
    subscriptions.on_acknowledged(2)

    assert _brief(first) == [("subscribe", ["A", "B"])]
    assert _brief(second) == [("add_markets", ["C", "D"]), ("subscribe", ["E"])]
    assert subscriptions.sids == {7: {"A", "B", "C", "D"}}


def test_the_price_convention_is_said_with_every_subscription_to_books() -> None:
    subscriptions = _begun("A", channels=("trade",))

    said = _said(subscriptions)

    assert [one["params"].get("use_yes_price") for one in said] == [None, False]
    assert said[0]["params"] == {"channels": ["trade"]}


def test_too_many_markets_halve_the_batch() -> None:
    subscriptions = _begun("A B C", SubscriptionLimits(batch=8, per_subscription=8, in_flight=1))

    sizes = [_brief(_said(subscriptions))]
    subscriptions.on_error(1, 26, 0.0)
    sizes.append(_brief(_said(subscriptions)))
    subscriptions.on_subscribed(2, "orderbook_delta", 1)
    sizes.append(_brief(_said(subscriptions)))

    assert [one[0][0] for one in sizes] == ["subscribe", "subscribe", "add_markets"]
    assert [len(one[0][1]) for one in sizes] == [3, 1, 1]


def test_a_full_subscription_is_followed_by_another() -> None:
    subscriptions = _begun("A B C D")
    _said(subscriptions)
    subscriptions.on_subscribed(1, "orderbook_delta", 1)
    _said(subscriptions)

    subscriptions.on_error(2, 26, 0.0)
    said = _said(subscriptions)

    assert _brief(said) == [("subscribe", ["C", "D"])]


def test_a_connection_that_takes_no_single_market_more_gives_it_back() -> None:
    subscriptions = _begun("A", SubscriptionLimits(batch=1, per_subscription=1))
    _said(subscriptions)

    subscriptions.on_error(1, 26, 0.0)

    assert subscriptions.overflow == {"A"}
    assert subscriptions.settled


def test_commands_that_come_too_fast_wait_twice_as_long_each_time() -> None:
    subscriptions = _begun("A")
    _said(subscriptions)

    subscriptions.on_error(1, 27, 100.0)
    first = [_brief(_said(subscriptions, at)) for at in (100.09, 100.11)]
    subscriptions.on_error(2, 27, 200.0)
    second = [_brief(_said(subscriptions, at)) for at in (200.19, 200.21)]

    assert first == [[], [("subscribe", ["A"])]]
    assert second == [[], [("subscribe", ["A"])]]
    assert _said(subscriptions, 200.1) == []


def test_a_subscription_that_ended_is_asked_for_again() -> None:
    subscriptions = _begun("A B", channels=("trade",))
    _said(subscriptions)
    subscriptions.on_subscribed(1, "trade", 1)
    subscriptions.on_subscribed(2, "orderbook_delta", 2)

    known = [subscriptions.on_ended(1), subscriptions.on_ended(2), subscriptions.on_ended(9)]
    said = _said(subscriptions)

    assert known == [True, True, False]
    assert [one["params"]["channels"] for one in said] == [["trade"], ["orderbook_delta"]]


def test_one_bad_market_does_not_keep_the_others_out() -> None:
    subscriptions = _begun("A BAD")
    _said(subscriptions)

    subscriptions.on_error(1, 11, 0.0)
    halves = _brief(_said(subscriptions))
    subscriptions.on_subscribed(2, "orderbook_delta", 1)
    subscriptions.on_error(3, 11, 0.0)

    assert halves == [("subscribe", ["A"]), ("subscribe", ["BAD"])]
    assert subscriptions.rejected == {"BAD": 11}
    assert subscriptions.sids == {1: {"A"}}


def test_markets_left_are_taken_off_also_when_the_reply_comes_later() -> None:
    subscriptions = _begun("A B")
    _said(subscriptions)

    subscriptions.unfollow(["A"])
    subscriptions.on_subscribed(1, "orderbook_delta", 3)
    said = _said(subscriptions)

    assert _brief(said) == [("delete_markets", ["A"])]
    assert subscriptions.sids == {3: {"B"}}


def test_books_are_asked_for_in_batches_of_the_markets_still_wanted() -> None:
    subscriptions = _begun("A B C")

    subscriptions.request_snapshots(3, ["A", "B", "C", "GONE"])
    said = _said(subscriptions)

    assert _brief(said) == [("get_snapshot", ["A", "B"]), ("get_snapshot", ["C"])]


def test_a_command_without_a_reply_is_overdue() -> None:
    subscriptions = _begun("A")
    _said(subscriptions, 10.0)

    early, late = subscriptions.overdue(14.0), subscriptions.overdue(16.0)

    assert (early, late) == (False, True)


def test_a_new_connection_asks_for_everything_again() -> None:
    subscriptions = _begun("A B C")
    _said(subscriptions)
    subscriptions.on_subscribed(1, "orderbook_delta", 5)

    subscriptions.reset()
    said = _said(subscriptions)

    assert said[0]["id"] == 1
    assert _brief(said) == [("subscribe", ["A", "B"])]
    assert subscriptions.sids == {}


def test_a_probe_without_an_answer_is_overdue_and_one_with_an_answer_is_not() -> None:
    subscriptions = _begun("")
    subscriptions.probe()
    first = _said(subscriptions, 0.0)
    subscriptions.on_acknowledged(1)
    answered = subscriptions.overdue(100.0)

    subscriptions.probe()
    _said(subscriptions, 100.0)

    assert first == [{"id": 1, "cmd": "list_subscriptions"}]
    assert (answered, subscriptions.overdue(106.0)) == (False, True)


@pytest.mark.parametrize("code", [26, 27])
def test_a_channel_that_is_refused_is_asked_for_until_it_stands(code: int) -> None:
    subscriptions = _begun(channels=("trade",))
    _said(subscriptions)

    subscriptions.on_error(1, code, 0.0)
    rested, again = _said(subscriptions, 0.0), _said(subscriptions, 1.0)

    assert rested == []
    assert [one["params"] for one in again] == [{"channels": ["trade"]}]


def test_a_market_that_comes_back_is_asked_for_only_after_it_was_taken_off() -> None:
    subscriptions = _begun("A B")
    _said(subscriptions)
    subscriptions.on_subscribed(1, "orderbook_delta", 3)

    subscriptions.unfollow(["A"])
    subscriptions.follow(["A"])
    off = _said(subscriptions)
    subscriptions.on_acknowledged(2)
    on = _said(subscriptions)

    assert _brief(off) == [("delete_markets", ["A"])]
    assert _brief(on) == [("add_markets", ["A"])]


def test_markets_the_exchange_no_longer_lists_are_asked_for_again() -> None:
    subscriptions = _begun("A B")
    _said(subscriptions)
    subscriptions.on_subscribed(1, "orderbook_delta", 3)

    subscriptions.on_listed(3, ["B"])
    said = _said(subscriptions)

    assert _brief(said) == [("add_markets", ["A"])]


def test_a_quiet_subscription_is_asked_for_a_numbered_answer_once_at_a_time() -> None:
    subscriptions = _begun("A B")
    _said(subscriptions)
    subscriptions.on_subscribed(1, "orderbook_delta", 3)

    subscriptions.request_proof([3, 3, 9])
    said = _said(subscriptions)
    waited_for = subscriptions.awaits_proof
    subscriptions.on_acknowledged(2)

    assert [one["params"] for one in said] == [
        {"sids": [3], "action": "add_markets", "market_tickers": ["A"], "skip_ticker_ack": True}
    ]
    assert (waited_for, subscriptions.awaits_proof) == (True, False)


def test_a_subscription_the_exchange_does_not_know_is_named() -> None:
    subscriptions = _begun("A B")
    _said(subscriptions)
    subscriptions.on_subscribed(1, "orderbook_delta", 3)
    subscriptions.request_proof([3])
    _said(subscriptions)

    gone = subscriptions.on_error(2, 7, 0.0)

    assert gone == 3
