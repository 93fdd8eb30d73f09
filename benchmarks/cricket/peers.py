"""Other clients that push: aioapns, and libcurl by its multi interface."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from benchmarks.cricket.pace import BUNDLE, KEY, PAYLOAD, STATE, Pace, Sunk, paced
from grandstand.apps.cricket.domain.live_activities import make_push_id


async def by_aioapns(sink: Sunk, count: int) -> Pace:
    """20 tasks that each push one after the other: more of them make it slower, not faster."""
    from aioapns import APNs, NotificationRequest, PushType
    from aioapns.connection import APNsProductionClientProtocol

    logging.getLogger("aioapns").setLevel(logging.ERROR)
    APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
    APNsProductionClientProtocol.APNS_PORT = sink.port
    peer = APNs(
        key=KEY.pem,
        key_id=KEY.key_id,
        team_id=KEY.team_id,
        topic=f"{BUNDLE}.push-type.liveactivity",
        max_connections=2,
        ssl_context=sink.trusting(),
    )

    async def work(tokens: Iterator[str]) -> None:
        for token in tokens:
            request = NotificationRequest(
                device_token=token,
                message=STATE,
                notification_id=str(uuid4()),
                priority=5,
                push_type=PushType.LIVEACTIVITY,
            )
            assert (await peer.send_notification(request)).is_successful

    async def send() -> None:
        tokens = iter([f"{at:064x}" for at in range(count)])
        await asyncio.gather(*(work(tokens) for _ in range(20)))

    pace = await paced(send, count, repeats=3)
    peer.pool.close()
    return pace


def by_pycurl(sink: Sunk, count: int) -> Pace:
    """The multi interface of libcurl with 500 requests under way, as it is told to be used."""
    curl = _Curl(sink)

    async def send() -> None:
        curl.send([f"{at:064x}" for at in range(count)])

    return asyncio.run(paced(send, count))


class _Curl:
    """Five hundred handles that take turns, on two connections."""

    def __init__(self, sink: Sunk) -> None:
        import pycurl

        self._curl: Any = pycurl
        self._sink = sink
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_PIPELINING, 2)
        self._multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, 2)
        self._multi.setopt(pycurl.M_MAX_CONCURRENT_STREAMS, 1_000)
        self._idle = [self._made() for _ in range(500)]
        self._shared = [
            f"authorization: bearer {'x' * 200}",
            f"apns-topic: {BUNDLE}.push-type.liveactivity",
            "apns-push-type: liveactivity",
            "apns-priority: 5",
            "apns-expiration: 0",
        ]

    def send(self, tokens: list[str]) -> None:
        """Push to every token."""
        left = len(tokens)
        while left:
            while self._idle and tokens:
                self._add(tokens.pop())
            self._multi.perform()
            _, good, bad = self._multi.info_read(500)
            assert not bad
            for easy in good:
                assert easy.getinfo(self._curl.RESPONSE_CODE) == 200
                self._multi.remove_handle(easy)
                self._idle.append(easy)
            left -= len(good)
            if not good:
                self._multi.select(0.01)

    def _made(self) -> Any:
        easy = self._curl.Curl()
        easy.setopt(self._curl.HTTP_VERSION, self._curl.CURL_HTTP_VERSION_2TLS)
        easy.setopt(self._curl.PIPEWAIT, 1)
        easy.setopt(self._curl.CAINFO, str(self._sink.file))
        easy.setopt(self._curl.POST, 1)
        easy.setopt(self._curl.POSTFIELDS, PAYLOAD)
        easy.setopt(self._curl.WRITEFUNCTION, len)
        return easy

    def _add(self, token: str) -> None:
        easy = self._idle.pop()
        easy.setopt(self._curl.URL, f"https://127.0.0.1:{self._sink.port}/3/device/{token}")
        easy.setopt(
            self._curl.HTTPHEADER, [*self._shared, f"apns-id: {make_push_id('match', token)}"]
        )
        self._multi.add_handle(easy)
