"""WebSocket commands and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from grandstand.simulators.exchange.market import MarketSource
from grandstand.simulators.exchange.ws_connections import (
    BOOK,
    COMBOS,
    LIFECYCLE,
    TICKER,
    TRADE,
    Connection,
    Hub,
    Subscription,
    quote_body,
)

ERRORS: Final[dict[int, str]] = {
    1: "Unable to process message",
    2: "Params required",
    3: "Channels required",
    4: "Subscription IDs required",
    5: "Unknown command",
    7: "Unknown subscription ID",
    8: "Unknown channel name",
    9: "Authentication required",
    10: "Channel error",
    11: "Invalid parameter",
    12: "Exactly one subscription ID is required",
    13: "Unsupported action",
    14: "Market ticker required",
    15: "Action required",
    18: "Command timeout",
    19: "shard_factor must be greater than 0",
    20: "shard_factor is required when shard_key is set",
    21: "shard_key must not be negative",
    22: "shard_key must be less than shard_factor",
    23: "Invalid feed parameter",
    24: "Feed unavailable",
    25: "Subscription buffer overflow",
    26: "Market limit reached",
    27: "Command rate exceeded",
    28: "Unknown index",
}
_PRIVATE: Final = frozenset(
    {"fill", "user_orders", "market_positions", "communications", "order_group_updates"}
)
_FEEDS: Final = frozenset({"cfbenchmarks_value", "cfbenchmarks_value_5hz", "pyth_value"})
_OF_ALL: Final = frozenset({LIFECYCLE, COMBOS}) | _PRIVATE | _FEEDS
_CHANNELS: Final = frozenset({BOOK, TICKER, TRADE}) | _OF_ALL


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """What a reader may have at most before it is refused."""

    markets_per_subscription: int = 1000
    commands_per_second: int = 10_000
    waiting_bytes: int = 64 * 1024 * 1024


class _Refused(Exception):
    """A command that gets an error, about a subscription or not."""

    def __init__(self, code: int, subscription: Subscription | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.subscription = subscription


class CommandHandler:
    """Carries out the commands of readers."""

    def __init__(self, hub: Hub, floor: MarketSource, limits: StreamLimits) -> None:
        self._hub = hub
        self._floor = floor
        self._limits = limits

    def take(self, connection: Connection, text: str | bytes, now: float) -> None:
        """Carry out one command and put its replies on their way."""
        command_id: int | None = None
        try:
            asked = _asked(text)
            found = asked.get("id")
            command_id = found if type(found) is int and found > 0 else None
            self._limit(connection, now)
            self._carry_out(connection, asked, command_id)
        except _Refused as refused:
            msg = {"code": refused.code, "msg": ERRORS.get(refused.code, "Error")}
            if refused.subscription is not None:
                refused.subscription.reply("error", command_id, msg)
            else:
                told: dict[str, object] = {} if command_id is None else {"id": command_id}
                connection.send(told | {"type": "error", "msg": msg})

    def overflow(self, subscription: Subscription, code: int) -> None:
        """End a subscription with an error, unless it has ended already."""
        if subscription.sid in subscription.connection.subscriptions:
            subscription.reply("error", None, {"code": code, "msg": ERRORS[code]})
            self._hub.end(subscription)

    def _limit(self, connection: Connection, now: float) -> None:
        if int(now) != connection.commands_second:
            connection.commands_second, connection.commands_count = int(now), 0
        connection.commands_count += 1
        if connection.commands_count > self._limits.commands_per_second:
            raise _Refused(27)
        code = connection.faults.on_command()
        if code is not None:
            raise _Refused(code)

    def _carry_out(
        self, connection: Connection, asked: dict[str, Any], command_id: int | None
    ) -> None:
        command, params = asked.get("cmd"), asked.get("params")
        if command == "list_subscriptions":
            listed = [
                {"channel": it.channel, "sid": it.sid} for it in connection.subscriptions.values()
            ]
            told: dict[str, object] = {} if command_id is None else {"id": command_id}
            connection.send(told | {"type": "ok", "msg": listed})
            return
        if command not in ("subscribe", "unsubscribe", "update_subscription"):
            raise _Refused(5)
        if not isinstance(params, dict):
            raise _Refused(2)
        if command == "subscribe":
            self._subscribe(connection, params, command_id)
        elif command == "unsubscribe":
            self._unsubscribe(connection, params, command_id)
        else:
            self._update(connection, params, command_id)

    def _subscribe(
        self, connection: Connection, params: dict[str, Any], command_id: int | None
    ) -> None:
        channels = params.get("channels")
        if not isinstance(channels, list) or not channels:
            raise _Refused(3)
        for channel in channels:
            if not isinstance(channel, str) or channel not in _CHANNELS:
                raise _Refused(8)
            if channel in _PRIVATE and not connection.signed:
                raise _Refused(9)
        _check_sharding(params)
        tickers = self._tickers(params, with_ids=TICKER in channels)
        if BOOK in channels and not tickers:
            raise _Refused(14)
        if tickers is not None and len(tickers) > self._limits.markets_per_subscription:
            raise _Refused(26)
        for channel in dict.fromkeys(channels):
            markets = None if channel in _OF_ALL or tickers is None else dict.fromkeys(tickers)
            self._begin(connection, channel, markets, params, command_id)

    def _begin(
        self,
        connection: Connection,
        channel: str,
        markets: dict[str, None] | None,
        params: dict[str, Any],
        command_id: int | None,
    ) -> None:
        connection.sids += 1
        subscription = Subscription(
            connection.sids,
            channel,
            connection,
            markets,
            yes_price=params.get("use_yes_price") is True,
        )
        connection.subscriptions[subscription.sid] = subscription
        told: dict[str, object] = {} if command_id is None else {"id": command_id}
        msg = {"channel": channel, "sid": subscription.sid}
        connection.send(told | {"type": "subscribed", "msg": msg})
        self._hub.listen(subscription, markets)
        self._tell_first(subscription, markets, params)

    def _tell_first(
        self,
        subscription: Subscription,
        markets: dict[str, None] | None,
        params: dict[str, Any],
    ) -> None:
        """Send what a reader must know of markets it begins to listen to."""
        if subscription.channel == BOOK:
            for ticker in markets or ():
                self._hub.snapshot(subscription, ticker, None)
        elif subscription.channel == TICKER and params.get("send_initial_snapshot") is True:
            for ticker in markets or [market.ticker for market in self._floor.listed]:
                quote = self._floor.quote(ticker)
                if quote is not None:
                    subscription.tell("ticker", quote_body(quote))

    def _unsubscribe(
        self, connection: Connection, params: dict[str, Any], command_id: int | None
    ) -> None:
        sids = params.get("sids")
        if not isinstance(sids, list) or not sids:
            raise _Refused(4)
        found = [connection.subscriptions.get(sid) for sid in sids if isinstance(sid, int)]
        if len(found) < len(sids) or None in found:
            raise _Refused(7)
        for subscription in found:
            if subscription is not None:
                self._hub.end(subscription)
                subscription.reply("unsubscribed", command_id)

    def _update(
        self, connection: Connection, params: dict[str, Any], command_id: int | None
    ) -> None:
        subscription = _subscription(connection, params)
        action = params.get("action")
        if action is None:
            raise _Refused(15, subscription)
        if action not in ("add_markets", "delete_markets", "get_snapshot"):
            raise _Refused(13, subscription)
        if subscription.channel not in {BOOK, TICKER, TRADE} or subscription.markets is None:
            raise _Refused(11, subscription)
        try:
            tickers = self._tickers(params, with_ids=subscription.channel == TICKER)
        except _Refused as refused:
            raise _Refused(refused.code, subscription) from None
        if not tickers:
            raise _Refused(14, subscription)
        if action == "get_snapshot":
            self._snapshots(subscription, tickers, command_id)
        else:
            self._change(subscription, tickers, params, command_id)

    def _snapshots(
        self, subscription: Subscription, tickers: list[str], command_id: int | None
    ) -> None:
        if subscription.channel != BOOK:
            raise _Refused(13, subscription)
        if any(ticker not in (subscription.markets or ()) for ticker in tickers):
            raise _Refused(11, subscription)
        for ticker in tickers:
            self._hub.snapshot(subscription, ticker, command_id)

    def _change(
        self,
        subscription: Subscription,
        tickers: list[str],
        params: dict[str, Any],
        command_id: int | None,
    ) -> None:
        markets = subscription.markets or {}
        new = dict.fromkeys(ticker for ticker in tickers if ticker not in markets)
        if params["action"] == "add_markets":
            if len(markets) + len(new) > self._limits.markets_per_subscription:
                raise _Refused(26, subscription)
            markets |= new
            self._hub.listen(subscription, new)
        else:
            gone = [ticker for ticker in dict.fromkeys(tickers) if ticker in markets]
            for ticker in gone:
                del markets[ticker]
            self._hub.ignore(subscription, gone)
            new = {}
        short = params.get("skip_ticker_ack") is True
        subscription.reply("ok", command_id, None if short else {"market_tickers": [*markets]})
        if new:
            self._tell_first(subscription, new, params)

    def _tickers(self, params: dict[str, Any], *, with_ids: bool) -> list[str] | None:
        """Return the markets a command names, None if it names none."""
        named = [*_texts(params, "market_tickers"), *_texts(params, "market_ticker")]
        ids = [*_texts(params, "market_ids"), *_texts(params, "market_id")]
        if ids and (not with_ids or named):
            raise _Refused(11)
        if ids:
            known = {market.market_id: market.ticker for market in self._floor.listed}
            if any(market_id not in known for market_id in ids):
                raise _Refused(11)
            named = [known[market_id] for market_id in ids]
        return named or None


def _asked(text: str | bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise _Refused(1) from None


def _subscription(connection: Connection, params: dict[str, Any]) -> Subscription:
    sids = params.get("sids", [params["sid"]] if "sid" in params else None)
    if sids is None:
        raise _Refused(4)
    if not isinstance(sids, list) or len(sids) != 1:
        raise _Refused(12)
    found = connection.subscriptions.get(sids[0]) if isinstance(sids[0], int) else None
    if found is None:
        raise _Refused(7)
    return found


def _texts(params: dict[str, Any], name: str) -> list[str]:
    found = params.get(name, [])
    many = found if isinstance(found, list) else [found]
    if any(not isinstance(one, str) for one in many):
        raise _Refused(11)
    return many


def _check_sharding(params: dict[str, Any]) -> None:
    factor, key = params.get("shard_factor"), params.get("shard_key")
    if factor is not None and (not isinstance(factor, int) or factor <= 0):
        raise _Refused(19)
    if key is not None and factor is None:
        raise _Refused(20)
    if key is not None and (not isinstance(key, int) or key < 0):
        raise _Refused(21)
    if key is not None and factor is not None and key >= factor:
        raise _Refused(22)
