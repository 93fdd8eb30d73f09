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
    """Limits of a connection."""

    markets_per_subscription: int = 1000
    commands_per_second: int = 10_000
    waiting_bytes: int = 64 * 1024 * 1024


class _Rejected(Exception):
    """A command is rejected with an error code."""

    def __init__(self, code: int, subscription: Subscription | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.subscription = subscription


class CommandHandler:
    """Executes the commands of clients."""

    def __init__(self, hub: Hub, source: MarketSource, limits: StreamLimits) -> None:
        self._hub = hub
        self._source = source
        self._limits = limits

    def handle(self, connection: Connection, text: str | bytes, now: float) -> None:
        """Execute a command and queue its replies."""
        command_id: int | None = None
        try:
            command = _decode(text)
            number = command.get("id")
            command_id = number if type(number) is int and number > 0 else None
            self._check_rate(connection, now)
            self._execute(connection, command, command_id)
        except _Rejected as rejected:
            msg = {"code": rejected.code, "msg": ERRORS.get(rejected.code, "Error")}
            if rejected.subscription is not None:
                rejected.subscription.reply("error", command_id, msg)
            else:
                connection.send(command_id, {"type": "error", "msg": msg})

    def overflow(self, subscription: Subscription, code: int) -> None:
        """End a subscription with an error; does nothing if it has ended."""
        if subscription.sid in subscription.connection.subscriptions:
            subscription.reply("error", None, {"code": code, "msg": ERRORS[code]})
            self._hub.end(subscription)

    def _check_rate(self, connection: Connection, now: float) -> None:
        if int(now) != connection.commands_second:
            connection.commands_second, connection.commands_count = int(now), 0
        connection.commands_count += 1
        if connection.commands_count > self._limits.commands_per_second:
            raise _Rejected(27)
        code = connection.faults.on_command()
        if code is not None:
            raise _Rejected(code)

    def _execute(
        self, connection: Connection, command: dict[str, Any], command_id: int | None
    ) -> None:
        name, params = command.get("cmd"), command.get("params")
        if name == "list_subscriptions":
            listed = [
                {"channel": subscription.channel, "sid": sid}
                for sid, subscription in connection.subscriptions.items()
            ]
            connection.send(command_id, {"type": "ok", "msg": listed})
            return
        commands = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "update_subscription": self._update,
        }
        if not isinstance(name, str) or name not in commands:
            raise _Rejected(5)
        if not isinstance(params, dict):
            raise _Rejected(2)
        commands[name](connection, params, command_id)

    def _subscribe(
        self, connection: Connection, params: dict[str, Any], command_id: int | None
    ) -> None:
        channels = params.get("channels")
        if not isinstance(channels, list) or not channels:
            raise _Rejected(3)
        for channel in channels:
            if not isinstance(channel, str) or channel not in _CHANNELS:
                raise _Rejected(8)
            if channel in _PRIVATE and not connection.signed:
                raise _Rejected(9)
        _check_sharding(params)
        tickers = self._tickers(params, with_ids=TICKER in channels)
        if BOOK in channels and not tickers:
            raise _Rejected(14)
        if tickers is not None and len(tickers) > self._limits.markets_per_subscription:
            raise _Rejected(26)
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
        msg = {"channel": channel, "sid": subscription.sid}
        connection.send(command_id, {"type": "subscribed", "msg": msg})
        self._hub.listen(subscription, markets)
        self._send_initial(subscription, markets, params)

    def _send_initial(
        self,
        subscription: Subscription,
        markets: dict[str, None] | None,
        params: dict[str, Any],
    ) -> None:
        """Send the books, or on request the tickers, of newly subscribed markets."""
        if subscription.channel == BOOK:
            for ticker in markets or ():
                self._hub.snapshot(subscription, ticker)
        elif subscription.channel == TICKER and params.get("send_initial_snapshot") is True:
            for ticker in markets or self._source.markets:
                quote = self._source.quote(ticker)
                if quote is not None:
                    subscription.send("ticker", quote_body(quote))

    def _unsubscribe(
        self, connection: Connection, params: dict[str, Any], command_id: int | None
    ) -> None:
        sids = params.get("sids")
        if not isinstance(sids, list) or not sids:
            raise _Rejected(4)
        found = [connection.subscriptions.get(sid) for sid in sids if isinstance(sid, int)]
        if len(found) < len(sids) or None in found:
            raise _Rejected(7)
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
            raise _Rejected(15, subscription)
        if action not in ("add_markets", "delete_markets", "get_snapshot"):
            raise _Rejected(13, subscription)
        if subscription.channel not in {BOOK, TICKER, TRADE} or subscription.markets is None:
            raise _Rejected(11, subscription)
        try:
            tickers = self._tickers(params, with_ids=subscription.channel == TICKER)
        except _Rejected as rejected:
            raise _Rejected(rejected.code, subscription) from None
        if not tickers:
            raise _Rejected(14, subscription)
        if action == "get_snapshot":
            self._snapshots(subscription, tickers, command_id)
        else:
            self._change(subscription, tickers, params, command_id)

    def _snapshots(
        self, subscription: Subscription, tickers: list[str], command_id: int | None
    ) -> None:
        if subscription.channel != BOOK:
            raise _Rejected(13, subscription)
        if any(ticker not in (subscription.markets or ()) for ticker in tickers):
            raise _Rejected(11, subscription)
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
                raise _Rejected(26, subscription)
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
            self._send_initial(subscription, new, params)

    def _tickers(self, params: dict[str, Any], *, with_ids: bool) -> list[str] | None:
        """Return the markets that a command names; None if it names none."""
        named = [*_texts(params, "market_tickers"), *_texts(params, "market_ticker")]
        ids = [*_texts(params, "market_ids"), *_texts(params, "market_id")]
        if ids and (not with_ids or named):
            raise _Rejected(11)
        if ids:
            tickers = {market.market_id: market.ticker for market in self._source.markets.values()}
            if any(market_id not in tickers for market_id in ids):
                raise _Rejected(11)
            named = [tickers[market_id] for market_id in ids]
        return named or None


def _decode(text: str | bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise _Rejected(1) from None


def _subscription(connection: Connection, params: dict[str, Any]) -> Subscription:
    sids = params.get("sids", [params["sid"]] if "sid" in params else None)
    if sids is None:
        raise _Rejected(4)
    if not isinstance(sids, list) or len(sids) != 1:
        raise _Rejected(12)
    found = connection.subscriptions.get(sids[0]) if isinstance(sids[0], int) else None
    if found is None:
        raise _Rejected(7)
    return found


def _texts(params: dict[str, Any], name: str) -> list[str]:
    value = params.get(name, [])
    texts = value if isinstance(value, list) else [value]
    if any(not isinstance(text, str) for text in texts):
        raise _Rejected(11)
    return texts


def _check_sharding(params: dict[str, Any]) -> None:
    factor, key = params.get("shard_factor"), params.get("shard_key")
    if factor is not None and (not isinstance(factor, int) or factor <= 0):
        raise _Rejected(19)
    if key is not None and factor is None:
        raise _Rejected(20)
    if key is not None and (not isinstance(key, int) or key < 0):
        raise _Rejected(21)
    if key is not None and factor is not None and key >= factor:
        raise _Rejected(22)
