"""HTTP clients of external sources, with rate limits, quotas, retries and a circuit breaker.

registry = SourceRegistry(clock=clock, random=random, metrics=metrics)
source = registry.source("odds", base_url="https://api.example.com", daily_quota=500)
games = (await source.get("/v4/sports")).json(list[Sport])
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from random import Random
from typing import Final, Self, TypeAlias, TypeVar
from urllib.parse import unquote

import httpx2
import msgspec

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, InvalidInput
from grandstand.core.logging import get_logger, redact, register_secrets
from grandstand.core.metrics import Metrics
from grandstand.net import errors
from grandstand.net.circuit_breaker import BreakerPolicy, BreakerState, CircuitBreaker
from grandstand.net.rate_limits import (
    MemoryQuotas,
    MemoryRateLimiter,
    Quota,
    QuotaLedger,
    QuotaUsage,
    RateLimit,
    RateLimiter,
    ReadQuota,
    Sleep,
    new_period,
)
from grandstand.net.retry import RetryBudget, RetryPolicy, RetryState, parse_retry_after, retry

Sign: TypeAlias = Callable[[str, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """Credentials of a source; they are sent only to the source's own origin.

    `sign` receives the method and path of each request and returns headers.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    sign: Sign | None = None

    def redact_in_logs(self) -> None:
        """Redact all values from logs and errors."""
        for value in (*self.headers.values(), *self.params.values()):
            register_secrets(value, *value.split()[1:])

    def __repr__(self) -> str:
        return "Credentials([redacted])"


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """The configuration of a source."""

    name: str
    base_url: httpx2.URL = field(repr=False)
    rate: RateLimit
    timeout_seconds: float
    quota: Quota
    headers: Mapping[str, str]
    credentials: Credentials
    read_quota: ReadQuota | None
    retries: RetryPolicy
    breaker: BreakerPolicy
    most_bytes: int
    also_hosts: tuple[str, ...]

    @property
    def host(self) -> str:
        """The host, with the port unless it is the default."""
        return self.base_url.netloc.decode("ascii")


def parse_base_url(base_url: str, credentials: Credentials) -> tuple[httpx2.URL, Credentials]:
    """Return a source's URL, with a user name and password in it moved to the credentials.

    Raises InvalidInput if it is not an HTTP URL.
    """
    try:
        url = httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError):
        url = httpx2.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        message = f"{redact(base_url)!r} is not a URL. Use https://HOST or http://HOST:PORT."
        raise InvalidInput(message)
    if url.query:
        raise InvalidInput(
            f"The base URL must not have a query ({redact(base_url)}). Pass params with requests, "
            "and keys in Credentials(params=…)."
        )
    if url.userinfo:
        register_secrets(unquote(url.password))
        proof = b64encode(unquote(url.userinfo.decode("ascii")).encode()).decode("ascii")
        headers = {**credentials.headers, "authorization": f"Basic {proof}"}
        credentials = replace(credentials, headers=headers)
        url = url.copy_with(userinfo=b"")
    credentials.redact_in_logs()
    return url, credentials


def same_origin(first: httpx2.URL, second: httpx2.URL) -> bool:
    """Return whether two URLs have the same origin."""
    return (first.scheme, first.host, _port(first)) == (second.scheme, second.host, _port(second))


def _port(url: httpx2.URL) -> int:
    return url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Response:
    """A response: the status, headers by lower-case name, and the decompressed body.

    `secrets` are the request's own, redacted from messages because a source may echo them.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    source: str = ""
    version: str = "HTTP/1.1"
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def json(self, kind: type[T]) -> T:
        """Return the body decoded as a type; raise InvalidResponse if it does not match."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{self.source} sent {len(self.body)} bytes that cannot be decoded: {error}"
            cause = errors.redacted(error)
        raise errors.InvalidResponse(message, source=self.source) from cause


async def read_response(
    response: httpx2.Response, source: str, most_bytes: int, secrets: tuple[str, ...] = ()
) -> Response:
    """Read a response; raise ResponseTooLarge as soon as it exceeds the limit.

    Compressed bodies are decompressed in chunks, so that a small one cannot fill the memory.
    """
    length = response.headers.get("content-length", "")
    if length.isdigit() and int(length) > most_bytes:
        raise _too_large(source, most_bytes)
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if max(len(body), response.num_bytes_downloaded) > most_bytes:
            raise _too_large(source, most_bytes)
    headers = {name.lower(): value for name, value in response.headers.items()}
    version = response.http_version
    return Response(response.status_code, headers, bytes(body), source, version, secrets)


def _too_large(source: str, most_bytes: int) -> errors.ResponseTooLarge:
    message = (
        f"{source} sent more than {most_bytes} bytes. Request less, or raise most_bytes of "
        "this source."
    )
    return errors.ResponseTooLarge(message, source=source)


_CONNECT_SECONDS: Final = 10.0
# A connection that ended early is a network failure; any other protocol error is the source's.
_HANG_UP_TEXTS: Final = ("disconnected", "closed connection", "connectionterminated")


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request as sent; its URL and headers may contain credentials.

    `secrets` were generated for this request and are redacted from messages.
    """

    method: str
    url: httpx2.URL = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def open_client(context: ssl.SSLContext | None, proxy: str | None) -> httpx2.AsyncClient:
    """Return an HTTP/2 and 1.1 client that stores no cookies and ignores the environment."""
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
    request: PreparedRequest,
    *,
    source: str,
    timeout_seconds: float,
    most_bytes: int,
) -> Response:
    """Send a request and read the response, whatever its status. Raises NetworkError.

    The timeout covers the whole exchange, so a body that trickles in does not block forever.
    """
    timeout = httpx2.Timeout(timeout_seconds, connect=min(timeout_seconds, _CONNECT_SECONDS))
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            client.stream(
                request.method,
                request.url,
                headers=request.headers,
                content=request.body,
                timeout=timeout,
            ) as response,
        ):
            return await read_response(response, source, most_bytes, request.secrets)
    except errors.NetworkError:
        raise
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
        cause = errors.redacted(error, *request.secrets)
        text = redact(str(error), *request.secrets)
        failure = translate_error(error, text, source, timeout_seconds)
    # Raised here, so that the library's exception, which holds the request, is not in the chain.
    raise failure from cause


def translate_error(
    error: Exception, text: str, source: str, timeout_seconds: float
) -> errors.NetworkError:
    """Return the NetworkError for a library's exception."""
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        message = f"{source} cannot be reached: {text or 'connection timed out'}"
        return errors.SourceUnreachable(message, source=source, sent=False)
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        message = f"{source} did not respond within {timeout_seconds:g} s"
        return errors.SourceTimeout(message, source=source)
    hung_up = any(phrase in text.lower() for phrase in _HANG_UP_TEXTS)
    if isinstance(error, httpx2.DecodingError | httpx2.RemoteProtocolError) and not hung_up:
        return errors.InvalidResponse(f"{source} sent invalid HTTP: {text}", source=source)
    if isinstance(error, httpx2.TransportError | OSError) and not isinstance(
        error, httpx2.LocalProtocolError | httpx2.UnsupportedProtocol
    ):
        message = f"The connection to {source} broke: {text or type(error).__name__}"
        return errors.SourceUnreachable(message, source=source)
    return errors.InvalidRequest(f"Invalid request to {source}: {text}", source=source)


Params: TypeAlias = Mapping[str, str | int | float | bool | Sequence[str]]


def build_url(config: SourceConfig, path: str, params: Params | None) -> httpx2.URL:
    """Return the URL of a path, or a complete URL if it belongs to the source.

    Raises InvalidRequest if it is invalid or belongs to another host.
    """
    try:
        if "://" in path.partition("?")[0]:
            url = httpx2.URL(path)
        else:
            stem = str(config.base_url).rstrip("/")
            url = httpx2.URL(f"{stem}/{path.lstrip('/')}" if path else stem)
        url = url.copy_merge_params(dict(params)) if params else url
    except (httpx2.InvalidURL, TypeError, ValueError) as error:
        message = f"{path!r} is not a path of {config.name}: {error}"
        raise errors.InvalidRequest(message, source=config.name) from None
    if not same_origin(url, config.base_url) or url.userinfo:
        message = f"{config.name} is at {config.host}; requests do not go elsewhere"
        raise errors.InvalidRequest(message, source=config.name)
    return url


def with_credentials(config: SourceConfig, request: PreparedRequest) -> PreparedRequest:
    """Add the credentials if the request goes to the source itself."""
    headers = {**config.headers, **request.headers}
    if not same_origin(request.url, config.base_url):
        return replace(request, headers=headers)
    credentials = config.credentials
    headers |= credentials.headers
    signed = credentials.sign(request.method, request.url.path) if credentials.sign else {}
    headers |= signed
    url = request.url.copy_merge_params(credentials.params) if credentials.params else request.url
    return replace(request, url=url, headers=headers, secrets=tuple(signed.values()))


def follow_redirect(
    config: SourceConfig, request: PreparedRequest, response: Response
) -> PreparedRequest:
    """Return the redirected request; raise RedirectRefused if the target is not allowed."""
    try:
        url = request.url.join(response.headers.get("location", ""))
    except (httpx2.InvalidURL, ValueError):
        message = f"{config.name} redirects to an invalid URL"
        raise errors.RedirectRefused(message, source=config.name) from None
    ours = same_origin(url, config.base_url)
    if request.method not in {"GET", "HEAD"} or not (ours or url.host in config.also_hosts):
        message = (
            f"{config.name} redirects to {url.host}, which is not allowed. Correct the "
            "base URL of the source, or add the host to also_hosts."
        )
        raise errors.RedirectRefused(message, source=config.name)
    if url.scheme != "https" and (config.base_url.scheme == "https" or url.scheme != "http"):
        raise errors.RedirectRefused(
            f"{config.name} redirects to an unencrypted URL", source=config.name
        )
    for name in config.credentials.params:
        url = url.copy_remove_param(name)
    # What a caller adds to a request, an API key among it, is meant for the source alone.
    headers = request.headers if ours else {}
    return replace(request, url=url.copy_with(userinfo=b"", fragment=None), headers=headers)


_SOURCE_FAULTS: Final = (
    errors.SourceTimeout,
    errors.SourceUnreachable,
    errors.SourceServerError,
    errors.InvalidResponse,
)
_OUTCOMES: Final[tuple[tuple[type[GrandstandError], str], ...]] = (
    (errors.SourceTimeout, "timeout"),
    (errors.SourceUnreachable, "unreachable"),
    (errors.SourceServerError, "failed"),
    (errors.InvalidResponse, "invalid"),
    (errors.ResponseTooLarge, "too_large"),
    (errors.SourceRefused, "refused"),
    (errors.RedirectRefused, "redirected"),
    (errors.RateLimited, "rate_limited"),
    (errors.RateLimitTimeout, "rate_limit_timeout"),
    (errors.QuotaExceeded, "quota_exceeded"),
    (errors.CircuitOpen, "circuit_open"),
    (errors.InvalidRequest, "unsent"),
)
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS: Final = 5


@dataclass(frozen=True, slots=True)
class SharedResources:
    """What all sources of a registry share."""

    clock: Clock
    random: Random
    sleep: Sleep
    metrics: Metrics
    rate_limiter: RateLimiter
    quotas: QuotaLedger
    client: Callable[[], httpx2.AsyncClient]


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The status of a source, without secrets.

    `used_today` counts the current quota period, a day by default. `renewed_in_seconds` is the
    time until the quota resets.
    """

    name: str
    host: str
    used_today: int
    quota_left: int | None
    breaker: BreakerState
    next_at: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None
    last_success_at: datetime | None = None
    renewed_in_seconds: float | None = None


class Source:
    """An external source. Requests raise the errors of `net.errors`."""

    def __init__(self, config: SourceConfig, shared: SharedResources) -> None:
        self.config = config
        self._shared = shared
        self._breaker = CircuitBreaker(config.name, config.breaker, shared.clock)
        self._budget = RetryBudget(config.retries)
        self._spent = new_period(config.quota, shared.clock.now())
        self._log = get_logger("net", source=config.name)
        self._known = SourceStatus(config.name, config.host, 0, config.quota.most, "closed")

    async def get(
        self,
        path: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
        cost: int = 1,
    ) -> Response:
        """Send a GET request; statuses in `accept` are returned like 2xx and 304."""
        return await self.ask("GET", path, params=params, headers=headers, accept=accept, cost=cost)

    async def post(
        self,
        path: str,
        *,
        json: object = None,
        body: bytes | None = None,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
        cost: int = 1,
        repeatable: bool = False,
    ) -> Response:
        """Send a POST request with a JSON value or bytes.

        It is retried only if the source cannot have received it, unless it is `repeatable`.
        """
        all_headers = dict(headers or {})
        if body is None and json is not None:
            body = msgspec.json.encode(json)
            all_headers.setdefault("content-type", "application/json")
        return await self.ask(
            "POST",
            path,
            params=params,
            headers=all_headers,
            body=body,
            accept=accept,
            cost=cost,
            repeatable=repeatable,
        )

    async def ask(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        accept: Collection[int] = (),
        cost: int = 1,
        repeatable: bool = False,
    ) -> Response:
        """Send a request within the rate limit and quota, and retry transient failures."""
        url = build_url(self.config, path, params)
        request = PreparedRequest(method, url, headers or {}, body)
        state = RetryState(
            self.config.retries,
            self._budget,
            clock=self._shared.clock,
            random=self._shared.random,
            repeatable=repeatable or method in {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"},
        )
        self._budget.deposit()
        return await retry(
            lambda: self._attempt(request, accept, cost, state),
            state.wait_seconds,
            self._shared.sleep,
        )

    def status(self) -> SourceStatus:
        """Return the status as seen by this process."""
        now = self._shared.clock.now()
        renewed_at = self._spent.resets_at or self.config.quota.ends_after(now)
        return replace(
            self._known,
            renewed_in_seconds=max(0.0, (renewed_at - now).total_seconds()),
            used_today=self._spent.used,
            quota_left=self._spent.left,
            breaker=self._breaker.state,
        )

    async def current(self) -> SourceStatus:
        """Return the status including the requests of other processes."""
        self._spent = await self._shared.quotas.spent(self.config.name, self.config.quota)
        next_at = await self._shared.rate_limiter.next_at(self.config.host, self.config.rate)
        self._known = replace(self._known, next_at=next_at)
        return self.status()

    async def _attempt(
        self, request: PreparedRequest, accept: Collection[int], cost: int, state: RetryState
    ) -> Response:
        clock, began = self._shared.clock, self._shared.clock.monotonic()
        try:
            self._breaker.check()
            response = await self._follow_redirects(request, accept, cost, state)
        except GrandstandError as error:
            self._failed(error)
            raise
        finally:
            is_open = float(self._breaker.state != "closed")
            self._shared.metrics.set("source_breaker_open", is_open, source=self.config.name)
        self._known = replace(self._known, last_success_at=clock.now())
        self._count("ok")
        taken = clock.monotonic() - began
        self._shared.metrics.observe("source_seconds", taken, source=self.config.name)
        return response

    async def _follow_redirects(
        self, request: PreparedRequest, accept: Collection[int], cost: int, state: RetryState
    ) -> Response:
        """Follow allowed redirects, each within the rate limit."""
        for _ in range(_MAX_REDIRECTS):
            response = await self._send_once(request, cost, state)
            if response.status not in _REDIRECTS or response.status in accept:
                return response if response.status in accept else self._accepted(response)
            request, cost = follow_redirect(self.config, request, response), 0
        message = f"{self.config.name} redirects in a loop. Check its base URL."
        raise errors.RedirectRefused(message, source=self.config.name)

    async def _send_once(self, request: PreparedRequest, cost: int, state: RetryState) -> Response:
        config, shared = self.config, self._shared
        client, host = shared.client(), request.url.netloc.decode("ascii")
        turn = shared.rate_limiter.acquire(
            host,
            config.rate,
            within_seconds=state.left_seconds,
            hold_seconds=config.timeout_seconds,
        )
        async with turn:
            self._breaker.check()
            if cost:
                self._note(await shared.quotas.spend(config.name, config.quota, cost))
            with self._breaker.guard(_SOURCE_FAULTS, unsent=(errors.InvalidRequest,)):
                response = await send(
                    client,
                    with_credentials(config, request),
                    source=config.name,
                    timeout_seconds=config.timeout_seconds,
                    most_bytes=config.most_bytes,
                )
                await self._read_quota(response)
                await self._check_status(response, host)
                return response

    async def _check_status(self, response: Response, host: str) -> None:
        """Raise RateLimited or SourceServerError if the status says so."""
        name, status = self.config.name, response.status
        wait = parse_retry_after(response.headers, self._shared.clock.now())
        limited = status == 429
        faulted = httpx2.codes.is_server_error(status) or status in {408, 425}
        if wait and (limited or faulted):
            await self._shared.rate_limiter.pause(host, wait)
        if limited:
            later = f"in {wait:.0f} s" if wait is not None else "later"
            message = f"{name} reports too many requests. Try again {later}."
            raise errors.RateLimited(message, source=name, retry_after_seconds=wait)
        if faulted:
            text = _error_text(response)
            message = f"{name} responded with {status}{_as_suffix(text)}"
            raise errors.SourceServerError(
                message,
                source=name,
                response_status=status,
                retry_after_seconds=wait,
                response_text=text,
            )

    def _accepted(self, response: Response) -> Response:
        if httpx2.codes.is_success(response.status) or response.status == 304:
            return response
        reason = _as_suffix(_error_text(response))
        message = f"{self.config.name} rejected the request with {response.status}{reason}"
        raise errors.SourceRefused(
            message, source=self.config.name, response_status=response.status
        )

    async def _read_quota(self, response: Response) -> None:
        config = self.config
        if config.read_quota is None:
            return
        reading = config.read_quota(response.headers, self._shared.clock.now())
        if reading is not None:
            self._note(await self._shared.quotas.record_reading(config.name, config.quota, reading))

    def _note(self, spent: QuotaUsage) -> None:
        self._spent = spent
        if spent.left is not None:
            self._shared.metrics.set("source_quota_left", spent.left, source=self.config.name)

    def _failed(self, error: GrandstandError) -> None:
        self._known = replace(
            self._known, last_error=str(error), last_error_at=self._shared.clock.now()
        )
        outcome = next((name for kind, name in _OUTCOMES if isinstance(error, kind)), "broken")
        self._count(outcome)
        self._log.warning("request_failed", outcome=outcome, error=str(error))

    def _count(self, outcome: str) -> None:
        self._shared.metrics.count("source_requests", source=self.config.name, outcome=outcome)


def _error_text(response: Response) -> str:
    """Return the beginning of an error response, if it is text."""
    kind = response.headers.get("content-type", "")
    if not response.body or not kind.startswith(
        ("text/plain", "application/json", "application/pro")
    ):
        return ""
    text = " ".join(response.body[:300].decode("utf-8", "replace").split())
    return redact(text, *response.secrets)


def _as_suffix(text: str) -> str:
    return f": {text}" if text else ""


_RATE: Final = RateLimit(per_second=5, burst=5)
_CREDENTIALS: Final = Credentials()
_RETRIES: Final = RetryPolicy()
_BREAKER: Final = BreakerPolicy()
_MOST_BYTES: Final = 16 * 1024 * 1024


class SourceRegistry:
    """Creates the sources and reports their status."""

    def __init__(
        self,
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        sleep: Sleep = asyncio.sleep,
        rate_limiter: RateLimiter | None = None,
        quotas: QuotaLedger | None = None,
        agent: str = "grandstand",
        context: ssl.SSLContext | None = None,
        proxy: str | None = None,
    ) -> None:
        self._agent = agent
        self._context = context
        self._proxy = proxy
        self._client: httpx2.AsyncClient | None = None
        self._sources: dict[str, Source] = {}
        self._shared = SharedResources(
            clock=clock,
            random=random,
            sleep=sleep,
            metrics=metrics,
            rate_limiter=rate_limiter or MemoryRateLimiter(clock, random, sleep),
            quotas=quotas or MemoryQuotas(clock),
            client=self._get_client,
        )

    def source(
        self,
        name: str,
        *,
        base_url: str,
        rate: RateLimit = _RATE,
        timeout_seconds: float = 10.0,
        daily_quota: int | None = None,
        quota: Quota | None = None,
        headers: Mapping[str, str] | None = None,
        credentials: Credentials = _CREDENTIALS,
        read_quota: ReadQuota | None = None,
        retries: RetryPolicy = _RETRIES,
        breaker: BreakerPolicy = _BREAKER,
        most_bytes: int = _MOST_BYTES,
        also_hosts: tuple[str, ...] = (),
    ) -> Source:
        """Create a source.

        `read_quota` reads the quota from the headers of each response. Redirects may lead to
        `also_hosts`, without credentials. Raises InvalidInput if the name is taken or the URL is
        invalid.
        """
        if name in self._sources:
            raise InvalidInput(
                f"A source named {name} exists already. Drop it first, or choose another name."
            )
        url, credentials = parse_base_url(base_url, credentials)
        config = SourceConfig(
            name=name,
            base_url=url,
            rate=rate,
            timeout_seconds=timeout_seconds,
            quota=quota or Quota(daily_quota),
            headers={"user-agent": self._agent, **(headers or {})},
            credentials=credentials,
            read_quota=read_quota,
            retries=retries,
            breaker=breaker,
            most_bytes=most_bytes,
            also_hosts=also_hosts,
        )
        self._sources[name] = Source(config, self._shared)
        return self._sources[name]

    def drop(self, name: str) -> None:
        """Remove a source, if it exists."""
        self._sources.pop(name, None)

    def status(self) -> tuple[SourceStatus, ...]:
        """Return the status of every source as seen by this process."""
        return tuple(source.status() for source in self._sources.values())

    async def current(self) -> tuple[SourceStatus, ...]:
        """Return the status of every source including the requests of other processes."""
        return tuple([await source.current() for source in self._sources.values()])

    async def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _get_client(self) -> httpx2.AsyncClient:
        if self._client is None:
            if self._proxy is not None:
                register_secrets(httpx2.URL(self._proxy).password)
            self._client = open_client(self._context, self._proxy)
        return self._client
