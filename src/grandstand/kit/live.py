"""Live updates: messages to open pages by topic, over one WebSocket per page."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from grandstand.core.clock import Clock
from grandstand.kit.auth.caller import Caller

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from grandstand.core.metrics import Metrics

ADMIN_TOPICS: Final = frozenset({"platform/jobs", "platform/sources", "platform/storage"})
MAX_TOPICS: Final = 64
MAX_MESSAGE: Final = 16_384

LIFETIME_SECONDS: Final = 600.0

# Close codes of RFC 6455 and IANA.
_GOING_AWAY: Final = 1001
_POLICY_VIOLATION: Final = 1008
_TOO_BIG: Final = 1009
_SERVICE_RESTART: Final = 1012
_TOPIC: Final = re.compile(r"[a-z][a-z0-9-]*(/[A-Za-z0-9._:@=-]+){1,8}")


class Publisher(Protocol):
    """Publishes messages to the pages that follow a topic.

    A topic is `<app>/<what>`, or `<app>/<what>/user/<user id>` for one user only.
    """

    def publish(self, topic: str, message: dict[str, Any]) -> None:
        """Publish a message; never blocks and never fails."""
        ...


class _PageMessage(msgspec.Struct, forbid_unknown_fields=True):
    """A message of a page: topics to follow with the last number seen, topics to leave, a ping."""

    follow: dict[str, int | None] = {}
    leave: list[str] = []
    ping: int | None = None


class _Page:
    """One open page: the topics it follows and the messages waiting for it."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.topics: set[str] = set()
        self.waiting: deque[tuple[str, str]] = deque()
        self.wake = asyncio.Event()
        self.closing = False

    def offer(self, topic: str, text: str, limit: int) -> int:
        """Queue a message; if the queue is full, replace it by a resync request.

        Returns the number of messages dropped.
        """
        dropped = 0
        if len(self.waiting) >= limit:
            dropped = len(self.waiting)
            behind = dict.fromkeys([*(one for one, _ in self.waiting), topic])
            self.waiting.clear()
            self.waiting.extend((one, _resync(one)) for one in behind if one in self.topics)
        else:
            self.waiting.append((topic, text))
        self.wake.set()
        return dropped


def may_follow(caller: Caller, topic: str) -> bool:
    """Return whether the caller may follow a topic."""
    *_, before, last = topic.split("/")
    if before == "user":
        return last == caller.user_id
    return "/user/" not in topic and (caller.admin or topic not in ADMIN_TOPICS)


class LiveHub:
    """Sends messages to every open page that follows their topic.

    A message is encoded once for all pages. Messages are numbered per topic: a page sends the last
    number it has seen, and reloads the data if it has missed any. A socket is closed after its
    lifetime and the page reconnects, so that a user who logged out gets no more messages.
    """

    def __init__(
        self,
        clock: Clock,
        metrics: Metrics,
        *,
        queue_length: int = 64,
        lifetime_seconds: float = LIFETIME_SECONDS,
    ) -> None:
        self._metrics = metrics
        self._lifetime_seconds = lifetime_seconds
        self._queue_length = queue_length
        # Numbers do not repeat those of an earlier server at the same address.
        self._first = int(clock.epoch() * 1000)
        self._numbers: dict[str, int] = {}
        self._followers: dict[str, set[_Page]] = {}
        self._pages: set[_Page] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._closed = False

    @property
    def open_pages(self) -> int:
        """The number of open pages."""
        return len(self._pages)

    def number(self, topic: str) -> int:
        """Return the number of a topic's last message, which pages send to say what they have."""
        return self._numbers.get(topic, self._first)

    def publish(self, topic: str, message: dict[str, Any]) -> None:
        """Publish a message from any thread; never blocks and never fails."""
        if self._loop is not None and threading.get_ident() != self._thread:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._publish, topic, message)
            return
        self._publish(topic, message)

    async def serve(self, socket: WebSocket) -> None:
        """Serve one page until it disconnects or the hub closes; refuse a page without a caller."""
        caller = socket.scope.get("state", {}).get("caller")
        if self._closed or not isinstance(caller, Caller):
            await socket.close(_POLICY_VIOLATION)
            return
        await socket.accept()
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        page = _Page(caller)
        self._pages.add(page)
        self._metrics.set("sockets", len(self._pages))
        sending = asyncio.create_task(_send_waiting(socket, page))
        try:
            async with asyncio.timeout(self._lifetime_seconds):
                await self._listen(socket, page)
        except TimeoutError:
            await _close(socket, _SERVICE_RESTART)
        finally:
            sending.cancel()
            self._forget(page)
        await asyncio.gather(sending, return_exceptions=True)

    async def close(self) -> None:
        """Disconnect every page and accept no new ones."""
        self._closed = True
        for page in self._pages:
            page.closing = True
            page.wake.set()
        await asyncio.sleep(0)

    def _publish(self, topic: str, message: dict[str, Any]) -> None:
        number = self.number(topic) + 1
        self._numbers[topic] = number
        pages = self._followers.get(topic)
        if not pages:
            return
        text = _encode({"topic": topic, "n": number, "data": message})
        dropped = sum([page.offer(topic, text, self._queue_length) for page in pages])
        if dropped:
            self._metrics.count(
                "live_messages_dropped", dropped, topic="/".join(topic.split("/")[:2])
            )

    async def _listen(self, socket: WebSocket, page: _Page) -> None:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text") or ""
            if len(text) > MAX_MESSAGE:
                await _close(socket, _TOO_BIG)
                return
            try:
                asked = msgspec.json.decode(text, type=_PageMessage)
            except msgspec.DecodeError:
                await _close(socket, _POLICY_VIOLATION)
                return
            self._apply(page, asked)

    def _apply(self, page: _Page, asked: _PageMessage) -> None:
        for topic in asked.leave:
            self._leave(page, topic)
        for topic, last_seen in asked.follow.items():
            self._follow(page, topic, last_seen)
        if asked.ping is not None:
            page.offer("", _encode({"pong": asked.ping}), self._queue_length)

    def _follow(self, page: _Page, topic: str, last_seen: int | None) -> None:
        valid = len(topic) <= 200 and _TOPIC.fullmatch(topic) is not None
        fits = len(page.topics) < MAX_TOPICS or topic in page.topics
        if not valid or not fits or not may_follow(page.caller, topic):
            page.offer(topic, _encode({"refused": topic}), self._queue_length)
            return
        page.topics.add(topic)
        self._followers.setdefault(topic, set()).add(page)
        number = self.number(topic)
        if last_seen is not None and last_seen != number:
            page.offer(topic, _resync(topic, number), self._queue_length)
            return
        page.offer(topic, _encode({"following": topic, "n": number}), self._queue_length)

    def _leave(self, page: _Page, topic: str) -> None:
        page.topics.discard(topic)
        followers = self._followers.get(topic)
        if followers is not None:
            followers.discard(page)
            if not followers:
                del self._followers[topic]

    def _forget(self, page: _Page) -> None:
        for topic in tuple(page.topics):
            self._leave(page, topic)
        self._pages.discard(page)
        self._metrics.set("sockets", len(self._pages))


async def _send_waiting(socket: WebSocket, page: _Page) -> None:
    """Send queued messages until the page disconnects or the hub closes."""
    from starlette.websockets import WebSocketDisconnect

    while not page.closing:
        await page.wake.wait()
        page.wake.clear()
        while page.waiting:
            _, text = page.waiting.popleft()
            try:
                await socket.send_text(text)
            except (WebSocketDisconnect, RuntimeError):
                return
    await _close(socket, _GOING_AWAY)


async def _close(socket: WebSocket, code: int) -> None:
    """Close a socket that may already be closed."""
    with suppress(RuntimeError, OSError):
        await socket.close(code)


def _resync(topic: str, number: int | None = None) -> str:
    return _encode({"resync": topic} if number is None else {"resync": topic, "n": number})


def _encode(message: dict[str, Any]) -> str:
    return msgspec.json.encode(message).decode()
