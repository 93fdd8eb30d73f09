"""Kept here: one request on its way, and what a library says about it in our words."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpx2

from grandstand.base.log import redact
from grandstand.wire.answer import Answer, read_answer
from grandstand.wire.errors import (
    AnswerGarbled,
    RequestFault,
    SourceTimeout,
    SourceUnreachable,
    WireError,
    told,
)

_CONNECT_SECONDS: Final = 10.0
# A connection that ended early is the network's doing; any other breach of HTTP is the source's.
_HUNG_UP: Final = ("disconnected", "closed connection", "connectionterminated")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it goes out; its address and headers may carry credentials.

    `secrets` are those made for this request alone, which no text may show.
    """

    method: str
    url: httpx2.URL = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def open_client(context: ssl.SSLContext | None, proxy: str | None) -> httpx2.AsyncClient:
    """Answer a client that speaks HTTP/2 and 1.1, keeps no cookies and reads no environment."""
    return httpx2.AsyncClient(
        http2=True,
        verify=context if context is not None else True,
        proxy=proxy,
        trust_env=False,
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        headers={"accept-encoding": "gzip, deflate"},
    )


async def send(
    client: httpx2.AsyncClient,
    asked: Asked,
    *,
    source: str,
    timeout_seconds: float,
    most_bytes: int,
) -> Answer:
    """Send a request and read the whole answer, whatever its status; raise a WireError.

    The time is for all of it, so that a body that trickles in is not waited for without end.
    """
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _send(client, asked, source, timeout_seconds, most_bytes)
    except WireError:
        raise
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
        cause = told(error, *asked.secrets)
        failure = translated(error, redact(str(error), *asked.secrets), source, timeout_seconds)
    # Raised out here, the library's exception with its request inside is not part of the chain.
    raise failure from cause


async def _send(
    client: httpx2.AsyncClient, asked: Asked, source: str, timeout_seconds: float, most_bytes: int
) -> Answer:
    timeout = httpx2.Timeout(timeout_seconds, connect=min(timeout_seconds, _CONNECT_SECONDS))
    request = client.build_request(
        asked.method, asked.url, headers=asked.headers, content=asked.body, timeout=timeout
    )
    response = await client.send(request, stream=True)
    try:
        return await read_answer(response, source, most_bytes, asked.secrets)
    finally:
        await response.aclose()


def translated(error: Exception, said: str, source: str, timeout_seconds: float) -> WireError:
    """Answer a library's exception, and what it said, in our words."""
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        message = f"{source} cannot be reached: {said or 'no connection in time'}"
        return SourceUnreachable(message, source=source, sent=False)
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        message = f"{source} did not answer within {timeout_seconds:g} s"
        return SourceTimeout(message, source=source)
    hung_up = any(words in said.lower() for words in _HUNG_UP)
    if isinstance(error, httpx2.DecodingError | httpx2.RemoteProtocolError) and not hung_up:
        return AnswerGarbled(f"{source} answered what is no HTTP: {said}", source=source)
    if isinstance(error, httpx2.TransportError | OSError) and not isinstance(
        error, httpx2.LocalProtocolError | httpx2.UnsupportedProtocol
    ):
        message = f"The connection to {source} broke: {said or type(error).__name__}"
        return SourceUnreachable(message, source=source)
    return RequestFault(f"What was to be sent to {source} is no request: {said}", source=source)
