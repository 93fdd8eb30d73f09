"""Every way to be refused by the stream, and by which code."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.simulators.exchange.ws_commands import ERRORS, CommandHandler, StreamLimits
from grandstand.simulators.exchange.ws_connections import Connection, Hub, StreamFault, StreamFaults
from tests.simulators.exchange.stream_reader import Frame, world_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
WORDS = ("subscribe", "unsubscribe", "update_subscription", "add_markets", "get_snapshot", "trade")
PARAMS = (
    "channels", "sids", "sid", "action", "market_tickers", "market_ids", "shard_factor",
    "shard_key",
)  # fmt: skip
LIMITS = StreamLimits(markets_per_subscription=5, commands_per_second=20)


class Paper:
    """A line that keeps what is written on it."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def waiting_bytes(self) -> int:
        return 0

    def close(self, code: int) -> None:
        raise AssertionError(code)


class Desk:
    """One connection, and what is answered to it; it listens to books, summaries and trades."""

    def __init__(self, *faults: StreamFault, signed: bool = False) -> None:
        self.source = world_of()
        self.tickers = [market.ticker for market in self.source.listed]
        struck = StreamFaults(Random(1))
        struck.ask_for(*faults)
        self.connection = Connection(1, Paper(), struck, signed=signed)
        self._commands = CommandHandler(Hub(self.source), self.source, LIMITS)

    def ask(self, command: object, now: float = 1.0) -> list[Frame]:
        """Give a command, and answer the frames that come of it."""
        text = command if isinstance(command, str) else json.dumps(command)
        self._commands.handle(self.connection, text, now)
        frames = [json.loads(frame[frame.index(b"{") :]) for frame in self.connection.out]
        self.connection.out.clear()
        return frames

    def subscribe(self, **params: object) -> list[Frame]:
        return self.ask(subscribe(**params))


def subscribe(**params: object) -> dict[str, object]:
    return {"id": 9, "cmd": "subscribe", "params": params}


def update(**params: object) -> dict[str, object]:
    return {"id": 9, "cmd": "update_subscription", "params": params}


def books(*tickers: str) -> dict[str, object]:
    return subscribe(channels=["orderbook_delta"], market_tickers=tickers)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ({"id": 9, "cmd": "subscribe"}, 2),
        ({"id": 9, "cmd": "unsubscribe"}, 2),
        (subscribe(), 3),
        (subscribe(channels=[]), 3),
        ({"id": 9, "cmd": "unsubscribe", "params": {}}, 4),
        (update(action="add_markets"), 4),
        ({"id": 9, "cmd": "dance"}, 5),
        ({"id": 9}, 5),
        ({"id": 9, "cmd": "unsubscribe", "params": {"sids": [77]}}, 7),
        (update(sid=77, action="add_markets"), 7),
        (subscribe(channels=["ticker_v2"]), 8),
        (subscribe(channels=["fill"]), 9),
        (subscribe(channels=["trade"], market_tickers=[7]), 11),
        (subscribe(channels=["trade"], market_ids=["an id"]), 11),
        (subscribe(channels=["ticker"], market_ids=["unknown"]), 11),
        (update(sids=[1, 2], action="add_markets"), 12),
        (update(sids=[], action="add_markets"), 12),
        (subscribe(channels=["orderbook_delta"]), 14),
        (books(), 14),
        (subscribe(channels=["trade"], shard_factor=0), 19),
        (subscribe(channels=["trade"], shard_key=1), 20),
        (subscribe(channels=["trade"], shard_factor=2, shard_key=-1), 21),
        (subscribe(channels=["trade"], shard_factor=2, shard_key=2), 22),
        (books(*(f"T{number}" for number in range(6))), 26),
    ],
)
def test_a_command_that_cannot_be_carried_out_gets_its_code(
    command: dict[str, Any], code: int
) -> None:
    replies = Desk().ask(command)

    assert replies == [{"id": 9, "type": "error", "msg": {"code": code, "msg": ERRORS[code]}}]


@pytest.mark.parametrize("text", ["{", "[]", "7", "", "null", '"subscribe"'])
def test_what_is_no_command_gets_code_1_without_an_id(text: str) -> None:
    replies = Desk().ask(text)

    assert replies == [{"type": "error", "msg": {"code": 1, "msg": ERRORS[1]}}]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"market_tickers": ["T1"]}, 15),
        ({"action": "fly_away", "market_tickers": ["T1"]}, 13),
        ({"action": "add_markets"}, 14),
        ({"action": "add_markets", "market_tickers": [f"T{n}" for n in range(5)]}, 26),
        ({"action": "get_snapshot", "market_tickers": ["T1"]}, 11),
        ({"action": "add_markets", "market_ids": ["an id"]}, 11),
    ],
)
def test_an_error_about_a_subscription_names_it_and_takes_a_number(
    params: dict[str, object], code: int
) -> None:
    desk = Desk()
    before = desk.ask(books(desk.tickers[0]))

    replies = desk.ask(update(sid=1, **params))

    number = before[-1]["seq"] + 1
    msg = {"code": code, "msg": ERRORS[code]}
    assert replies == [{"id": 9, "type": "error", "sid": 1, "seq": number, "msg": msg}]


@pytest.mark.parametrize("channel", ["trade", "market_lifecycle_v2"])
def test_a_subscription_to_all_markets_cannot_be_changed(channel: str) -> None:
    desk = Desk()
    desk.subscribe(channels=[channel])

    replies = desk.ask(update(sid=1, action="add_markets", market_tickers=["T1"]))

    assert replies[0]["msg"]["code"] == 11


def test_snapshots_are_of_books_only() -> None:
    desk = Desk()
    desk.subscribe(channels=["trade"], market_tickers=desk.tickers[:1])

    replies = desk.ask(update(sid=1, action="get_snapshot", market_tickers=desk.tickers[:1]))

    assert replies[0]["msg"]["code"] == 13


def test_too_many_commands_in_a_second_get_code_27_and_the_next_second_is_free() -> None:
    desk = Desk()
    listing = {"id": 9, "cmd": "list_subscriptions"}

    replies = [desk.ask(listing, now=1.5)[0] for _ in range(21)]
    later = desk.ask(listing, now=2.0)

    assert {reply["type"] for reply in replies[:20]} == {"ok"}
    assert replies[20]["msg"]["code"] == 27
    assert later[0]["type"] == "ok"


@given(
    st.fixed_dictionaries(
        {"id": st.just(9), "cmd": st.sampled_from(WORDS) | JSON},
        optional={
            "params": st.dictionaries(st.sampled_from(PARAMS), st.sampled_from(WORDS) | JSON) | JSON
        },
    )
)
@settings(max_examples=60, deadline=None)
def test_whatever_is_asked_is_answered_and_the_next_command_too(command: dict[str, object]) -> None:
    desk = Desk()

    desk.ask(command)
    after = desk.ask({"id": 10, "cmd": "list_subscriptions"})

    assert [(reply["id"], reply["type"]) for reply in after] == [(10, "ok")]


def test_one_reply_comes_for_each_channel_with_a_sid_of_its_own() -> None:
    replies = Desk().subscribe(channels=["ticker", "trade", "market_lifecycle_v2"])

    assert [reply["msg"] for reply in replies] == [
        {"channel": "ticker", "sid": 1},
        {"channel": "trade", "sid": 2},
        {"channel": "market_lifecycle_v2", "sid": 3},
    ]
    assert {reply["id"] for reply in replies} == {9}


def test_private_channels_and_other_feeds_are_there_for_who_signed() -> None:
    replies = Desk(signed=True).subscribe(channels=["fill", "user_orders", "pyth_value"])

    assert [reply["type"] for reply in replies] == ["subscribed"] * 3


@pytest.mark.parametrize("code", sorted(ERRORS.keys() - {10, 25}))
def test_every_code_that_answers_a_command_can_be_asked_for(code: int) -> None:
    desk = Desk(StreamFault("error", code=code, times=1))

    replies = [desk.subscribe(channels=["trade"])[0] for _ in range(2)]

    assert replies[0]["msg"] == {"code": code, "msg": ERRORS[code]}
    assert replies[1]["type"] == "subscribed"


def test_the_codes_that_were_retired_are_not_used() -> None:
    assert ERRORS.keys().isdisjoint({6, 16, 17})
