"""Every frame of the exchange is understood exactly, or refused and the stream goes on."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.gatherer.domain.messages import (
    DeltaMessage,
    ErrorMessage,
    EventMessage,
    InvalidMessage,
    LifecycleMessage,
    Message,
    OkReply,
    SnapshotMessage,
    SubscribedReply,
    TickerMessage,
    TradeMessage,
    UnknownMessage,
    UnsubscribedReply,
)
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder

_TRADE_ID = "5f1e0000-0000-4000-8000-00000000000a"
_DELTA: dict[str, Any] = {
    "market_ticker": "KXA-1",
    "market_id": "1c0",
    "price_dollars": "0.4100",
    "delta_fp": "-2.50",
    "side": "yes",
    "ts": "2026-11-01T12:00:00.123456Z",
    "ts_ms": 1793534400123,
}
_TRADE: dict[str, Any] = {
    "trade_id": _TRADE_ID,
    "market_ticker": "KXA-1",
    "yes_price_dollars": "0.4100",
    "no_price_dollars": "0.5900",
    "count_fp": "2.50",
    "taker_side": "no",
    "taker_outcome_side": "no",
    "taker_book_side": "ask",
    "is_block_trade": False,
    "ts": 1793534400,
    "ts_ms": 1793534400123,
}


_DECODER = FrameDecoder()


def parse(frame: object) -> Message:
    return _DECODER.parse(json.dumps(frame).encode())


def delta(**changed: object) -> dict[str, Any]:
    return {"type": "orderbook_delta", "sid": 4, "seq": 2, "msg": _DELTA | changed}


def trade(**changed: object) -> dict[str, Any]:
    return {"type": "trade", "sid": 3, "seq": 77, "msg": _TRADE | changed}


def without(frame: dict[str, Any], *names: str) -> dict[str, Any]:
    return frame | {"msg": {k: v for k, v in frame["msg"].items() if k not in names}}


def test_a_delta_is_read_in_exact_integers() -> None:
    message = parse(delta())

    assert isinstance(message, DeltaMessage)
    assert (message.sid, message.seq, message.ticker, message.side) == (4, 2, "KXA-1", True)
    assert (message.price, message.size_delta) == (41000, -250)
    assert message.exchange_ts == 1793534400123456


def test_a_frame_may_come_as_text() -> None:
    text = json.dumps(delta())

    message = _DECODER.parse(text)

    assert message == parse(delta())


def test_a_frame_read_again_means_the_same() -> None:
    decoder = FrameDecoder()
    raw = json.dumps(delta()).encode()

    first, second = decoder.parse(raw), decoder.parse(raw)

    assert first == second


@pytest.mark.parametrize(
    ("ts", "exchange_ts"),
    [
        ("2026-11-01T12:00:00.123Z", 1793534400123000),
        ("2026-11-01T12:00:01.123456Z", 1793534400123000),
        ("2026-11-01T13:00:00.123456+01:00", 1793534400123456),
        ("2026-11-01T12:00:00.123456", 1793534400123000),
        ("yesterday", 1793534400123000),
        (1793534400, 1793534400123000),
        (-5, 1793534400123000),
        (None, 1793534400123000),
        ([], 1793534400123000),
    ],
)
def test_a_delta_is_kept_whatever_its_old_time_field_says(ts: object, exchange_ts: int) -> None:
    message = parse(delta(ts=ts))

    assert isinstance(message, DeltaMessage)
    assert message.exchange_ts == exchange_ts


@pytest.mark.parametrize("ts_ms", [None, "soon", -1, 2**80, 1.5])
def test_a_delta_without_usable_milliseconds_is_kept_at_its_text_time(ts_ms: object) -> None:
    message = parse(delta(ts_ms=ts_ms))

    assert isinstance(message, DeltaMessage)
    assert message.exchange_ts == 1793534400123456


def test_a_delta_without_any_time_is_kept() -> None:
    message = parse(without(delta(), "ts", "ts_ms"))

    assert isinstance(message, DeltaMessage)
    assert message.exchange_ts is None


@pytest.mark.parametrize(
    "changed",
    [
        {"price_dollars": "0.410001"},
        {"price_dollars": "1.0100"},
        {"price_dollars": 0.41},
        {"delta_fp": "0.005"},
        {"delta_fp": None},
        {"side": "maybe"},
    ],
)
def test_a_delta_that_cannot_be_exact_is_refused_with_its_place(changed: dict[str, Any]) -> None:
    message = parse(delta(**changed))

    assert isinstance(message, InvalidMessage)
    assert (message.kind, message.sid, message.seq) == ("orderbook_delta", 4, 2)
    assert message.ticker == "KXA-1"
    assert message.reason


@pytest.mark.parametrize("ticker", ["", "KX\x00A", "KX\nA", "\uff2b", "K" * 201, 7, None])
def test_what_is_no_ticker_is_refused(ticker: object) -> None:
    message = parse(delta(market_ticker=ticker))

    assert isinstance(message, InvalidMessage)
    assert message.seq == 2


def test_a_snapshot_is_read_and_an_absent_side_is_empty() -> None:
    message = parse(
        {
            "type": "orderbook_snapshot",
            "sid": 4,
            "seq": 1,
            "id": 9,
            "msg": {
                "market_ticker": "KXA-1",
                "market_id": "1c0",
                "yes_dollars_fp": [["0.0300", "75.00"], ["0.4100", "12.50"]],
            },
        }
    )

    assert message == SnapshotMessage(4, 1, "KXA-1", ((3000, 7500), (41000, 1250)), (), 9)


@pytest.mark.parametrize(
    "levels",
    [
        [["0.0300", "-1.00"]],
        [["0.0300", "1.00"], ["0.03", "2.00"]],
        [["0.0300"]],
        [[0.03, 1]],
        {"0.03": "1.00"},
    ],
)
def test_a_snapshot_with_a_level_that_cannot_be_is_refused(levels: object) -> None:
    said = {"market_ticker": "KXA-1", "no_dollars_fp": levels}

    message = parse({"type": "orderbook_snapshot", "sid": 4, "seq": 1, "msg": said})

    assert isinstance(message, InvalidMessage)
    assert (message.sid, message.seq, message.ticker) == (4, 1, "KXA-1")


def test_a_trade_is_read() -> None:
    message = parse(trade())

    assert message == TradeMessage(
        3, 77, UUID(_TRADE_ID), "KXA-1", 41000, 250, False, False, 1793534400123000
    )


@pytest.mark.parametrize(
    ("changed", "yes"),
    [
        ({"taker_outcome_side": "yes"}, True),
        ({"taker_outcome_side": None, "taker_book_side": "bid"}, True),
        ({"taker_outcome_side": None, "taker_book_side": None, "taker_side": "yes"}, True),
        ({"taker_outcome_side": None, "taker_book_side": "ask", "taker_side": "yes"}, False),
    ],
)
def test_the_takers_side_is_the_newest_field_that_is_there(
    changed: dict[str, Any], *, yes: bool
) -> None:
    message = parse(trade(**changed))

    assert isinstance(message, TradeMessage)
    assert message.taker_side is yes


@pytest.mark.parametrize(
    "changed", [{"taker_outcome_side": "up"}, {"trade_id": "no uuid"}, {"count_fp": "-1.00"}]
)
def test_a_trade_that_makes_no_sense_is_refused(changed: dict[str, Any]) -> None:
    message = parse(trade(**changed))

    assert isinstance(message, InvalidMessage)
    assert message.seq == 77


def test_a_summary_is_read_and_what_it_lacks_is_none() -> None:
    said = {
        "market_ticker": "KXA-1",
        "price_dollars": "0.4100",
        "yes_bid_dollars": "0.4000",
        "volume_fp": "810.25",
        "dollar_volume": 331,
        "ts_ms": 1793534400123,
        "time": "2026-11-01T12:00:00Z",
    }

    message = parse({"type": "ticker", "sid": 2, "msg": said})

    assert message == TickerMessage(
        2, None, "KXA-1", 40000, None, 41000, 81025, None, 331, None, 1793534400123000
    )


def test_a_lifecycle_event_is_read_and_kept_as_it_came() -> None:
    said = {
        "event_type": "created",
        "market_ticker": "KXB-7",
        "open_ts": 1793534400,
        "close_ts": 1793620800,
        "novelty": [1],
        "additional_metadata": {"event_ticker": "KXB", "title": "Rain?"},
    }

    message = parse({"type": "market_lifecycle_v2", "sid": 1, "seq": 5, "msg": said})

    assert isinstance(message, LifecycleMessage)
    assert (message.event_type, message.ticker, message.title) == ("created", "KXB-7", "Rain?")
    assert (message.open_ts, message.close_ts) == (1793534400000000, 1793620800000000)
    assert json.loads(message.raw) == said


def test_a_settlement_is_read_in_exact_integers() -> None:
    said = {
        "event_type": "determined",
        "market_ticker": "KXB-7",
        "result": "yes",
        "determination_ts": 1793624400,
        "settlement_value": "1.0000",
    }

    message = parse({"type": "market_lifecycle_v2", "sid": 1, "seq": 6, "msg": said})

    assert isinstance(message, LifecycleMessage)
    assert (message.result, message.settlement_value) == ("yes", 100_000)
    assert message.determination_ts == 1793624400000000


@pytest.mark.parametrize("kind", ["event_lifecycle", "event_fee_update"])
def test_an_event_of_events_is_read(kind: str) -> None:
    said = {"event_ticker": "KXB", "series_ticker": "KXBS", "title": "T", "fee_type_override": None}

    message = parse({"type": kind, "sid": 1, "seq": 7, "msg": said})

    assert isinstance(message, EventMessage)
    assert (message.kind, message.event_ticker, message.series_ticker) == (kind, "KXB", "KXBS")
    assert json.loads(message.raw) == said


def test_a_text_that_no_store_can_keep_is_refused() -> None:
    said = {"event_ticker": "KXB", "title": "T\x00"}

    message = parse({"type": "event_lifecycle", "sid": 1, "seq": 7, "msg": said})

    assert isinstance(message, InvalidMessage)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            {"id": 1, "type": "subscribed", "msg": {"channel": "orderbook_delta", "sid": 4}},
            SubscribedReply(1, "orderbook_delta", 4),
        ),
        (
            {"id": 3, "type": "ok", "sid": 4, "seq": 91, "msg": {"market_tickers": ["A", "B"]}},
            OkReply(3, 4, 91, ("A", "B")),
        ),
        ({"id": 3, "type": "ok", "sid": 4, "seq": 91}, OkReply(3, 4, 91)),
        (
            {"id": 6, "type": "ok", "msg": [{"channel": "trade", "sid": 3}]},
            OkReply(6, None, None, None, (("trade", 3),)),
        ),
        ({"id": 5, "type": "unsubscribed", "sid": 4, "seq": 250}, UnsubscribedReply(5, 4, 250)),
        (
            {"id": 9, "type": "error", "msg": {"code": 8, "msg": "Unknown channel name"}},
            ErrorMessage(9, None, None, 8, "Unknown channel name"),
        ),
        (
            {"type": "error", "sid": 4, "seq": 12, "msg": {"code": 25, "msg": "overflow"}},
            ErrorMessage(None, 4, 12, 25, "overflow"),
        ),
    ],
)
def test_replies_are_read(frame: dict[str, Any], message: Message) -> None:
    read = parse(frame)

    assert read == message


def test_a_frame_of_an_unknown_kind_keeps_its_place_in_the_sequence() -> None:
    message = parse({"type": "novelty", "sid": 4, "seq": 12, "msg": {"any": "thing"}})

    assert message == UnknownMessage("novelty", 4, 12)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b"\xff\xfe",
        b'{"sid":4}',
        b'{"type":7}',
        b'{"type":"trade"}',
        b'{"type":"orderbook_delta","sid":4,"seq":2,"msg":"\\ud800"}',
        b"[" * 100_000,
        b'{"type":"orderbook_delta","msg":' + b'{"a":' * 50_000,
    ],
)
def test_what_is_not_a_frame_is_refused_with_a_reason(raw: bytes) -> None:
    message = _DECODER.parse(raw)

    assert isinstance(message, InvalidMessage)
    assert message.reason


_odd: st.SearchStrategy[object] = st.sampled_from(
    [None, True, 0, 7, -1, 2**70, 0.5, "", "yes", "0.41", "1e5", "KX\x00", [], [["0.1", "1"]], {}]
)
_frames = st.fixed_dictionaries(
    {"type": st.sampled_from(["orderbook_delta", "trade", "ticker", "ok", "error", "other"])},
    optional={
        "sid": _odd,
        "seq": _odd,
        "id": _odd,
        "msg": _odd | st.dictionaries(st.sampled_from(sorted(_DELTA | _TRADE)), _odd, max_size=8),
    },
)


@settings(max_examples=150)
@given(_frames)
def test_no_frame_stops_the_stream(frame: dict[str, Any]) -> None:
    message = parse(frame)

    assert isinstance(message, Message)


@settings(max_examples=100)
@given(st.data())
def test_no_damaged_frame_stops_the_stream(data: st.DataObject) -> None:
    raw = bytearray(json.dumps(delta()).encode())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = data.draw(st.integers(0, 255))

    message = _DECODER.parse(bytes(raw))

    assert isinstance(message, Message)
