"""News reach every page that follows their topic, once written, and no page holds up another."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from starlette.websockets import WebSocket

from grandstand.core.clock import ManualClock
from grandstand.core.metrics import Metrics
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller
from grandstand.kit.live import MAX_MESSAGE, MAX_TOPICS, LiveHub, may_follow

pytestmark = pytest.mark.anyio

_ADA = replace(LOCAL_OWNER, user_id="ada", roles=frozenset({"user"}))
_TOPIC = "bets/odds"


class Browser:
    """The other end of a page's socket: says and hears; while `deaf` nothing gets through."""

    def __init__(self, caller: Caller | None) -> None:
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.listens = asyncio.Event()
        self.listens.set()
        scope = {"type": "websocket", "path": "/live", "headers": [], "state": {"caller": caller}}
        self.socket = WebSocket(scope, self._said.get, self._take)
        self._said.put_nowait({"type": "websocket.connect"})

    async def _take(self, message: MutableMapping[str, Any]) -> None:
        await self.listens.wait()
        self._heard.put_nowait(dict(message))

    def say(self, message: object) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self._said.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1001})

    async def frame(self) -> dict[str, Any]:
        return await asyncio.wait_for(self._heard.get(), 5)

    async def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads((await self.frame())["text"])
        return heard


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def hub(metrics: Metrics) -> LiveHub:
    return LiveHub(ManualClock(), metrics, queue_length=4)


@asynccontextmanager
async def _open(hub: LiveHub, caller: Caller | None = _ADA) -> AsyncIterator[Browser]:
    browser = Browser(caller)
    serving = asyncio.create_task(hub.serve(browser.socket))
    assert (await browser.frame())["type"] == "websocket.accept"
    yield browser
    browser.leave()
    await asyncio.wait_for(serving, 5)


async def _follow(browser: Browser, topic: str = _TOPIC, heard: int | None = None) -> int:
    browser.say({"follow": {topic: heard}})
    answer = await browser.hear()
    assert answer["following"] == topic
    number: int = answer["n"]
    return number


async def test_news_reach_only_the_pages_that_follow_the_topic(hub: LiveHub) -> None:
    async with _open(hub) as one, _open(hub) as other:
        first = await _follow(one)
        await _follow(other, "keiba/races")

        hub.publish(_TOPIC, {"price": 3})
        hub.publish("keiba/races", {"race": 4})

        assert await one.hear() == {"topic": _TOPIC, "n": first + 1, "data": {"price": 3}}
        assert (await other.hear())["data"] == {"race": 4}


async def test_a_message_is_written_once_for_all_pages(hub: LiveHub) -> None:
    async with _open(hub) as one, _open(hub) as other:
        await _follow(one)
        await _follow(other)

        hub.publish(_TOPIC, {"price": 3})
        texts = [(await one.frame())["text"], (await other.frame())["text"]]

    assert texts[0] is texts[1]


async def test_a_page_that_has_missed_news_is_told_to_fetch_the_whole(hub: LiveHub) -> None:
    seen = hub.number(_TOPIC)
    hub.publish(_TOPIC, {"price": 3})

    async with _open(hub) as browser:
        browser.say({"follow": {_TOPIC: seen}})
        answer = await browser.hear()

    assert answer == {"resync": _TOPIC, "n": seen + 1}


async def test_a_page_of_an_earlier_server_is_told_to_fetch_the_whole(metrics: Metrics) -> None:
    clock = ManualClock()
    seen = LiveHub(clock, metrics).number(_TOPIC)
    clock.advance(1)

    async with _open(LiveHub(clock, metrics)) as browser:
        browser.say({"follow": {_TOPIC: seen}})
        answer = await browser.hear()

    assert answer["resync"] == _TOPIC


async def test_a_slow_page_loses_its_news_and_holds_nobody_up(
    hub: LiveHub, metrics: Metrics
) -> None:
    async with _open(hub) as slow, _open(hub) as quick:
        await _follow(slow)
        await _follow(quick)
        slow.listens.clear()

        heard = []
        for price in range(20):
            hub.publish(_TOPIC, {"price": price})
            heard.append((await quick.hear())["data"]["price"])
        slow.listens.set()
        answers = [await slow.hear() for _ in range(2)]

    assert heard == list(range(20))
    assert {"resync": _TOPIC} in answers
    assert b'grandstand_live_messages_dropped_total{topic="bets/odds"}' in metrics.exposition()


async def test_a_page_that_leaves_a_topic_or_the_hub_is_forgotten(hub: LiveHub) -> None:
    async with _open(hub) as browser:
        await _follow(browser)
        browser.say({"leave": [_TOPIC], "ping": 7})
        pong = await browser.hear()
        hub.publish(_TOPIC, {"price": 3})
        browser.say({"ping": 8})

        assert pong == {"pong": 7}
        assert await browser.hear() == {"pong": 8}
        assert hub.open_pages == 1

    assert hub.open_pages == 0


async def test_news_may_come_from_another_thread(hub: LiveHub) -> None:
    async with _open(hub) as browser:
        await _follow(browser)
        thread = threading.Thread(target=hub.publish, args=(_TOPIC, {"price": 5}))
        thread.start()
        heard = await browser.hear()
        thread.join()

    assert heard["data"] == {"price": 5}


async def test_whoever_has_no_credential_is_not_let_in(hub: LiveHub) -> None:
    browser = Browser(None)

    await hub.serve(browser.socket)

    assert (await browser.frame())["type"] == "websocket.close"


@pytest.mark.parametrize(
    "message", ["{", "[]", '{"follow": ["a"]}', '{"shout": 1}', "x" * (MAX_MESSAGE + 1)]
)
async def test_a_page_that_talks_nonsense_is_closed(hub: LiveHub, message: str) -> None:
    browser = Browser(_ADA)
    serving = asyncio.create_task(hub.serve(browser.socket))
    await browser.frame()

    browser.say(message)
    closing = await browser.frame()
    await asyncio.wait_for(serving, 5)

    assert closing["type"] == "websocket.close"
    assert hub.open_pages == 0


@pytest.mark.parametrize(
    "topic",
    [
        "bets/bets/user/bob",
        "platform/jobs",
        "bets",
        "bets/",
        "Bets/odds",
        "bets/" + "a" * 300,
        "b/\n",
    ],
)
async def test_a_topic_that_is_not_for_these_eyes_is_refused(hub: LiveHub, topic: str) -> None:
    async with _open(hub) as browser:
        browser.say({"follow": {topic: None}})

        assert await browser.hear() == {"refused": topic}


async def test_a_page_follows_only_so_many_topics(hub: LiveHub) -> None:
    async with _open(hub) as browser:
        for place in range(MAX_TOPICS):
            await _follow(browser, f"bets/{place}")
        browser.say({"follow": {"bets/more": None}})

        assert await browser.hear() == {"refused": "bets/more"}


async def test_closing_says_goodbye_to_every_page(hub: LiveHub) -> None:
    async with _open(hub) as one, _open(hub) as other:
        await hub.close()

        closing = [await one.frame(), await other.frame()]

    assert [(one["type"], one["code"]) for one in closing] == [("websocket.close", 1001)] * 2


async def test_after_its_lifetime_a_page_is_asked_to_come_again(metrics: Metrics) -> None:
    hub = LiveHub(ManualClock(), metrics, lifetime_seconds=0.05)
    browser = Browser(_ADA)

    await asyncio.wait_for(hub.serve(browser.socket), 5)

    frames = [await browser.frame(), await browser.frame()]
    assert [frame.get("code") for frame in frames] == [None, 1012]
    assert hub.open_pages == 0


@pytest.mark.parametrize(
    ("caller", "topic", "allowed"),
    [
        (_ADA, "bets/odds", True),
        (_ADA, "bets/models/user/ada", True),
        (_ADA, "bets/models/user/bob", False),
        (LOCAL_OWNER, "bets/models/user/bob", False),
        (_ADA, "bets/user/bob/more", False),
        (_ADA, "platform/sources", False),
        (LOCAL_OWNER, "platform/sources", True),
    ],
)
async def test_a_topic_is_for_one_person_for_administrators_or_for_all(
    caller: Caller, topic: str, *, allowed: bool
) -> None:
    assert may_follow(caller, topic) is allowed
