"""Kept here: what is said of a source before it is first asked."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from urllib.parse import unquote

import httpx2

from grandstand.base.errors import InvalidInput
from grandstand.base.log import redact, remember
from grandstand.wire.breaker import Breaking
from grandstand.wire.quota import Quota, ReadQuota
from grandstand.wire.rate import Rate
from grandstand.wire.retry import Retries

Sign: TypeAlias = Callable[[str, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """What proves to a source who we are; it is sent to the source's own address only.

    `sign` gets the method and the path of each request, as it goes out, and answers headers.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    sign: Sign | None = None

    def learn(self) -> None:
        """Keep all of it out of logs and errors."""
        for value in (*self.headers.values(), *self.params.values()):
            remember(value, *value.split()[1:])

    def __repr__(self) -> str:
        return "Credentials([redacted])"


@dataclass(frozen=True, slots=True)
class Declared:
    """A source: where it is, how it may be asked, and what we bear with."""

    name: str
    base_url: httpx2.URL = field(repr=False)
    rate: Rate
    timeout_seconds: float
    quota: Quota
    headers: Mapping[str, str]
    credentials: Credentials
    read_quota: ReadQuota | None
    retries: Retries
    breaking: Breaking
    most_bytes: int
    also_hosts: tuple[str, ...]

    @property
    def host(self) -> str:
        """The host and, where it is not the usual one, the port."""
        return self.base_url.netloc.decode("ascii")


def read_address(base_url: str, credentials: Credentials) -> tuple[httpx2.URL, Credentials]:
    """Answer a source's address, with a name and password in it moved to the credentials.

    Raises InvalidInput when it is no address of HTTP.
    """
    url = _read(base_url)
    if url is None or url.scheme not in {"http", "https"} or not url.host:
        message = f"{redact(base_url)!r} is no address: write https://HOST or http://HOST:PORT"
        raise InvalidInput(message)
    if url.query:
        message = (
            f"The address of a source has no query ({redact(base_url)}): give params to requests, "
            "and keys in Credentials(params=…)"
        )
        raise InvalidInput(message)
    if url.userinfo:
        remember(unquote(url.password))
        proof = b64encode(unquote(url.userinfo.decode("ascii")).encode()).decode("ascii")
        headers = {**credentials.headers, "authorization": f"Basic {proof}"}
        credentials = replace(credentials, headers=headers)
        url = url.copy_with(userinfo=b"")
    credentials.learn()
    return url, credentials


def _read(base_url: str) -> httpx2.URL | None:
    try:
        return httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError):
        return None


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Tell whether two addresses are of one server."""
    return (one.scheme, one.host, _port(one)) == (other.scheme, other.host, _port(other))


def _port(url: httpx2.URL) -> int:
    return url.port or {"http": 80, "https": 443}.get(url.scheme, 0)
