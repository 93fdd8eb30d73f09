"""Kept here: asking one source: its rate, its quota, its failures and what we make of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Final

import httpx2
import msgspec
import stamina

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log, redact
from grandstand.base.metrics import Metrics
from grandstand.wire.addressing import Params, address, proven, redirected
from grandstand.wire.answer import Answer
from grandstand.wire.breaker import Breaker, BreakerState
from grandstand.wire.declaring import Declared
from grandstand.wire.errors import (
    AnswerGarbled,
    AnswerTooLarge,
    BreakerOpen,
    QuotaSpent,
    RateLimited,
    RedirectRefused,
    RequestFault,
    SourceFaulted,
    SourceRefused,
    SourceTimeout,
    SourceUnreachable,
    TooBusy,
)
from grandstand.wire.quota import QuotaLedger, Spent, fresh
from grandstand.wire.rate import Allowance, Sleep
from grandstand.wire.retry import Patience, RetryBudget, retry_after
from grandstand.wire.sending import Asked, send

_AT_FAULT: Final = (SourceTimeout, SourceUnreachable, SourceFaulted, AnswerGarbled)
_UNSENT: Final = (RequestFault,)
_OUTCOMES: Final[tuple[tuple[type[GrandstandError], str], ...]] = (
    (SourceTimeout, "timeout"),
    (SourceUnreachable, "unreachable"),
    (SourceFaulted, "failed"),
    (AnswerGarbled, "garbled"),
    (AnswerTooLarge, "too_large"),
    (SourceRefused, "refused"),
    (RedirectRefused, "redirected"),
    (RateLimited, "limited"),
    (TooBusy, "busy"),
    (QuotaSpent, "quota_spent"),
    (BreakerOpen, "left_alone"),
    (RequestFault, "unsent"),
)
_REPEATABLE: Final = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_HOPS: Final = 5
_MAY_PASS: Final = frozenset({408, 425})


@dataclass(frozen=True, slots=True)
class Means:
    """What sources share: the time, chance, what is counted, and who says when and how often."""

    clock: Clock
    random: Random
    sleep: Sleep
    metrics: Metrics
    allowance: Allowance
    quotas: QuotaLedger
    client: Callable[[], httpx2.AsyncClient]


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How things stand with a source; no text of it carries a secret.

    `used_today` is what was used in the period of the quota, a day unless declared otherwise.
    `renewed_in_seconds` is how long what is left of it has to last.
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
    """An outsider that answers requests.

    Asking raises SourceFailed, Unavailable or LimitReached in one of the forms that `wire.errors`
    lists, and RequestFault.
    """

    def __init__(self, declared: Declared, means: Means) -> None:
        self.declared = declared
        self._means = means
        self._breaker = Breaker(declared.name, declared.breaking, means.clock)
        self._budget = RetryBudget(declared.retries)
        self._spent = fresh(declared.quota, means.clock.now())
        self._log = log("wire", source=declared.name)
        self._known = SourceStatus(declared.name, declared.host, 0, declared.quota.most, "closed")

    async def get(
        self,
        path: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
        cost: int = 1,
    ) -> Answer:
        """Get a path; the statuses of `accept`, like those of success and 304, are answered."""
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
    ) -> Answer:
        """Post a value as JSON, or bytes.

        It is sent again only if the source cannot have taken it, unless it is `repeatable`.
        """
        told = dict(headers or {})
        if body is None and json is not None:
            body = msgspec.json.encode(json)
            told.setdefault("content-type", "application/json")
        return await self.ask(
            "POST",
            path,
            params=params,
            headers=told,
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
    ) -> Answer:
        """Send a request, again where that helps, at the rate and within the quota declared."""
        asked = Asked(method, address(self.declared, path, params), headers or {}, body)
        patience = self._patience(repeatable=repeatable or method in _REPEATABLE)
        self._budget.deposit()
        tries = stamina.retry_context(
            on=patience.again,
            attempts=self.declared.retries.tries,
            timeout=None,
            wait_initial=0,
            wait_max=0,
            wait_jitter=0,
        )
        async for attempt in tries:
            with attempt:
                await patience.rest()
                return await self._try(asked, accept, cost, patience)
        raise AssertionError  # stamina raises the last error itself

    def status(self) -> SourceStatus:
        """Answer how things stand, as far as this process has seen."""
        now = self._means.clock.now()
        renewed_at = self._spent.resets_at or self.declared.quota.ends_after(now)
        return replace(
            self._known,
            renewed_in_seconds=max(0.0, (renewed_at - now).total_seconds()),
            used_today=self._spent.used,
            quota_left=self._spent.left,
            breaker=self._breaker.state,
        )

    async def current(self) -> SourceStatus:
        """Answer how things stand with what other processes used and asked included."""
        self._spent = await self._means.quotas.spent(self.declared.name, self.declared.quota)
        next_at = await self._means.allowance.next_at(self.declared.host, self.declared.rate)
        self._known = replace(self._known, next_at=next_at)
        return self.status()

    def _patience(self, *, repeatable: bool) -> Patience:
        means = self._means
        return Patience(
            self.declared.retries,
            self._budget,
            clock=means.clock,
            random=means.random,
            sleep=means.sleep,
            repeatable=repeatable,
        )

    async def _try(
        self, asked: Asked, accept: Collection[int], cost: int, patience: Patience
    ) -> Answer:
        clock, began = self._means.clock, self._means.clock.monotonic()
        try:
            self._breaker.check()
            answer = await self._walk(asked, accept, cost, patience)
        except GrandstandError as error:
            self._failed(error)
            raise
        finally:
            state = self._breaker.state
            self._means.metrics.set(
                "source_breaker_open", float(state != "closed"), source=self.declared.name
            )
        self._known = replace(self._known, last_success_at=clock.now())
        self._count("ok")
        taken = clock.monotonic() - began
        self._means.metrics.observe("source_seconds", taken, source=self.declared.name)
        return answer

    async def _walk(
        self, asked: Asked, accept: Collection[int], cost: int, patience: Patience
    ) -> Answer:
        """Follow redirects as far as they are allowed, each hop in its own turn."""
        for _ in range(_HOPS):
            answer = await self._hop(asked, cost, patience)
            if answer.status not in _REDIRECTS or answer.status in accept:
                return answer if answer.status in accept else self._accepted(answer)
            asked, cost = redirected(self.declared, asked, answer), 0
        message = f"{self.declared.name} redirects without end: check its address"
        raise RedirectRefused(message, source=self.declared.name)

    async def _hop(self, asked: Asked, cost: int, patience: Patience) -> Answer:
        declared, means = self.declared, self._means
        client, host = means.client(), asked.url.netloc.decode("ascii")
        turn = means.allowance.turn(
            host,
            declared.rate,
            within_seconds=patience.left_seconds,
            hold_seconds=declared.timeout_seconds,
        )
        async with turn:
            self._breaker.check()
            if cost:
                self._note(await means.quotas.spend(declared.name, declared.quota, cost))
            with self._breaker.trying(_AT_FAULT, _UNSENT):
                answer = await send(
                    client,
                    proven(declared, asked),
                    source=declared.name,
                    timeout_seconds=declared.timeout_seconds,
                    most_bytes=declared.most_bytes,
                )
                await self._read_quota(answer)
                await self._judge(answer, host)
                return answer

    async def _judge(self, answer: Answer, host: str) -> None:
        """Raise what a status says of the source itself: that it is overloaded, or broken."""
        name, status = self.declared.name, answer.status
        wait = retry_after(answer.headers, self._means.clock.now())
        limited = status == httpx2.codes.TOO_MANY_REQUESTS
        faulted = httpx2.codes.is_server_error(status) or status in _MAY_PASS
        if wait and (limited or faulted):
            await self._means.allowance.rest(host, wait)
        if limited:
            later = f"in {wait:.0f} s" if wait is not None else "later"
            message = f"{name} says that it is asked too often: try again {later}"
            raise RateLimited(message, source=name, retry_after_seconds=wait)
        if faulted:
            said = _words(answer)
            message = f"{name} answered {status}{_told(said)}"
            raise SourceFaulted(
                message, source=name, answered=status, retry_after_seconds=wait, said=said
            )

    def _accepted(self, answer: Answer) -> Answer:
        fine = httpx2.codes.is_success(answer.status) or answer.status == httpx2.codes.NOT_MODIFIED
        if fine:
            return answer
        message = f"{self.declared.name} refused with {answer.status}{_told(_words(answer))}"
        raise SourceRefused(message, source=self.declared.name, answered=answer.status)

    async def _read_quota(self, answer: Answer) -> None:
        declared = self.declared
        if declared.read_quota is None:
            return
        reading = declared.read_quota(answer.headers, self._means.clock.now())
        if reading is not None:
            self._note(await self._means.quotas.told(declared.name, declared.quota, reading))

    def _note(self, spent: Spent) -> None:
        self._spent = spent
        if spent.left is not None:
            self._means.metrics.set("source_quota_left", spent.left, source=self.declared.name)

    def _failed(self, error: GrandstandError) -> None:
        self._known = replace(
            self._known, last_error=str(error), last_error_at=self._means.clock.now()
        )
        outcome = next((said for kind, said in _OUTCOMES if isinstance(error, kind)), "broken")
        self._count(outcome)
        self._log.warning("not answered", outcome=outcome, error=str(error))

    def _count(self, outcome: str) -> None:
        self._means.metrics.count("source_requests", source=self.declared.name, outcome=outcome)


def _words(answer: Answer) -> str:
    """Answer the beginning of what a source says about a failure, if it is text."""
    kind = answer.headers.get("content-type", "")
    if not answer.body or not kind.startswith(
        ("text/plain", "application/json", "application/pro")
    ):
        return ""
    text = " ".join(answer.body[:300].decode("utf-8", "replace").split())
    return redact(text, *answer.secrets)


def _told(words: str) -> str:
    return f": {words}" if words else ""
