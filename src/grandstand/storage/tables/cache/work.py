"""Kept here: what a cache does, step by step: look, wait for another, fetch, keep."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar, cast

from grandstand.base.errors import (
    GrandstandError,
    InvalidInput,
    LimitReached,
    SourceFailed,
    Unavailable,
)
from grandstand.storage.tables.cache.breaker import Breaker
from grandstand.storage.tables.cache.counting import Tally
from grandstand.storage.tables.cache.form import CacheKey, Limits
from grandstand.storage.tables.cache.reading import Found, ReadEntries
from grandstand.storage.tables.cache.script import Ask, Fetch, Later, Pause, Script
from grandstand.storage.tables.cache.writing import ForgetEntry, Kept, WriteEntry
from grandstand.storage.tables.leases import FLIGHTS, Lease, Leases
from grandstand.storage.tables.operations.single import Operation

if TYPE_CHECKING:
    from grandstand.storage.tables.session import Session

R = TypeVar("R")
V = TypeVar("V")

State: TypeAlias = Literal["fresh", "stale", "miss", "negative"]
NoticeKind: TypeAlias = Literal[
    "hit", "miss", "stale", "negative", "error", "damaged", "refused", "resting"
]

_KEY_BYTES: Final = 1_000
_LOUD: Final = frozenset(("error", "damaged", "refused", "resting"))
_log: Final = logging.getLogger("grandstand.cache")


@dataclass(frozen=True, slots=True)
class Cached(Generic[V]):
    """An answer of the cache, which always says what it is.

    "fresh" and "negative" (there is known to be nothing) are within their time; "stale" is past
    it; "miss" was not in the cache: then the value is what was just fetched, or None if nothing
    was. `age_seconds` counts from the fetch. `error` is why a stale value had to do.
    """

    value: V | None
    state: State
    age_seconds: float | None = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a cache has to tell: what it answered, or what went wrong."""

    kind: NoticeKind
    key: str
    detail: str = ""


def log_notice(notice: Notice) -> None:
    """Write a notice to the log: what went wrong as a warning, the rest for a close look."""
    level = logging.WARNING if notice.kind in _LOUD else logging.DEBUG
    _log.log(level, "cache %s %s %s", notice.kind, notice.key, notice.detail)


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """How a cache behaves.

    Across processes one fetches, holding a flight for `flight_seconds` (None: each for itself);
    the others look again every `poll_seconds`, and after `wait_seconds` fetch as well. After
    `breaker_errors` failures in a row the store is left alone for `breaker_seconds`. A stale
    entry may stand in for the errors `stale_on`.
    """

    flight_seconds: float | None = 30.0
    wait_seconds: float = 10.0
    poll_seconds: float = 0.2
    breaker_errors: int = 3
    breaker_seconds: float = 30.0
    limits: Limits = field(default_factory=Limits)
    stale_on: tuple[type[Exception], ...] = (SourceFailed, Unavailable, LimitReached)


_MISS: Final[Cached[Any]] = Cached(None, "miss")


class Work:
    """The scripts of one cache, and what they share: counts, breaker, flights."""

    def __init__(
        self,
        session: Session,
        settings: CacheSettings,
        *,
        owner: str,
        random: Random,
        notice: Callable[[Notice], None],
    ) -> None:
        self.session = session
        self.settings = settings
        self.tally = Tally()
        self.breaker = Breaker(
            session.clock,
            errors=settings.breaker_errors,
            rest_seconds=settings.breaker_seconds,
        )
        self._random = random
        self._notice = notice
        self._leases = Leases(FLIGHTS, owner, seconds=settings.flight_seconds or 1.0)

    def look(self, keys: Sequence[CacheKey[V]], *, stale: bool) -> Script[list[Cached[V]]]:
        """Answer what is there, in one go; stale entries only if they are wanted."""
        seen = yield from self._look(keys)
        told = [one if stale or one.state != "stale" else _MISS for one in seen]
        for key, one in zip(keys, told, strict=True):
            self._count(key, one)
        return told

    def through(self, key: CacheKey[V]) -> Script[Cached[V]]:
        """Answer what is there; fetch and keep what is not."""
        [seen] = yield from self._look([key])
        if seen.state in ("fresh", "negative"):
            self._count(key, seen)
            return seen
        if seen.state == "stale" and key.form.revalidates:
            self._count(key, seen)
            yield Later()
            return seen
        return (yield from self._fill(key, seen))

    def alone(self, key: CacheKey[V]) -> Script[Cached[V]]:
        """Fetch and keep, whoever else may be doing so."""
        return (yield from self._fetch(key, _MISS, None))

    def refresh(self, key: CacheKey[V]) -> Script[None]:
        """Fetch and keep unless another is doing so; a failure is told and not raised.

        The flight of a failed refresh is not given back, so its time is the pause before the next.
        """
        answered, lease = yield from self._claim(key)
        if not answered or lease is None:
            return
        [again] = yield from self._look([key])
        if again.state == "fresh":
            yield from self._release(key, lease)
            return
        started = self.session.clock.now()
        try:
            value = yield Fetch()
        except GrandstandError as fault:
            self._notice(Notice("error", key.text, f"refresh failed: {fault}"))
            return
        self.tally.add([key.form.kind], fetches=1)
        yield from self.keep(key, value, started)
        yield from self._release(key, lease)

    def keep(self, key: CacheKey[V], value: V | None, fetched_at: datetime) -> Script[bool]:
        """Write an entry; False when it was not kept, for whatever reason."""
        form = key.form
        seconds = form.life(value)
        if seconds is None:
            return False
        life = timedelta(seconds=seconds * (1 - form.jitter * self._random.random()))
        generation = f"{int(self.session.clock.epoch() * 1000):x}-{token_hex(4)}"
        write = WriteEntry(
            key, value, fetched_at, fetched_at + life, generation, self.settings.limits
        )
        try:
            answered, kept = yield from self._ask([key], write)
        except InvalidInput as fault:
            self.tally.add([form.kind], refused=1)
            self._notice(Notice("refused", key.text, str(fault)))
            return False
        if not answered:
            return False
        self._count_kept(form.kind, cast("Kept", kept))
        return cast("Kept", kept).way != "superseded"

    def forget(self, key: CacheKey[Any]) -> Script[bool]:
        """Delete an entry; False when there was none, or the store does not answer."""
        answered, gone = yield from self._ask([key], ForgetEntry(key))
        return answered and bool(gone)

    def _fill(self, key: CacheKey[V], seen: Cached[V]) -> Script[Cached[V]]:
        answered, lease = yield from self._claim(key)
        waited = 0.0
        while answered and lease is None and waited < self.settings.wait_seconds:
            pause = self.settings.poll_seconds * self._random.uniform(0.5, 1.0)
            yield Pause(pause)
            waited += pause
            [again] = yield from self._look([key])
            if again.state in ("fresh", "negative"):
                self.tally.add([key.form.kind], shared=1)
                return again
            answered, lease = yield from self._claim(key)
        if lease is not None:
            [again] = yield from self._look([key])
            if again.state in ("fresh", "negative"):
                yield from self._release(key, lease)
                self.tally.add([key.form.kind], shared=1)
                return again
        return (yield from self._fetch(key, seen, lease))

    def _fetch(self, key: CacheKey[V], seen: Cached[V], lease: Lease | None) -> Script[Cached[V]]:
        started = self.session.clock.now()
        try:
            value: V | None = yield Fetch()
        except GeneratorExit:
            raise
        except BaseException as fault:
            yield from self._release(key, lease)
            if (
                seen.state == "stale"
                and key.form.outlives_errors
                and isinstance(fault, self.settings.stale_on)
            ):
                used = replace(seen, error=fault)
                self._count(key, used)
                return used
            self._count(key, _MISS)
            raise
        self._count(key, _MISS)
        self.tally.add([key.form.kind], fetches=1)
        yield from self.keep(key, value, started)
        yield from self._release(key, lease)
        return Cached(value, "miss" if value is not None else "negative", 0.0)

    def _look(self, keys: Sequence[CacheKey[V]]) -> Script[list[Cached[V]]]:
        if not keys:
            return []
        read = ReadEntries(tuple(keys), self.settings.limits)
        try:
            answered, found = yield from self._ask(keys, read)
        except InvalidInput as fault:
            self.tally.add({key.form.kind for key in keys}, errors=1)
            self._notice(Notice("error", keys[0].text, str(fault)))
            answered, found = False, None
        if not answered:
            return [_MISS] * len(keys)
        return [
            self._seen(key, one)
            for key, one in zip(keys, cast("list[Found[V]]", found), strict=True)
        ]

    def _seen(self, key: CacheKey[V], found: Found[V]) -> Cached[V]:
        kind, entry = key.form.kind, found.entry
        self.tally.add([kind], bytes_read=found.stored_bytes, chunks_read=found.chunks)
        if found.damage is not None:
            self.tally.add([kind], damaged=1)
            self._notice(Notice("damaged", key.text, found.damage))
        if entry is None:
            return _MISS
        now = self.session.clock.epoch()
        age = now - entry.fetched_at.timestamp()
        if now < entry.expires:
            return Cached(entry.value, "negative" if entry.negative else "fresh", age)
        self.tally.add([kind], expired=1)
        if not entry.negative and now < entry.expires + key.form.stale_seconds:
            return Cached(entry.value, "stale", age)
        return _MISS

    def _claim(self, key: CacheKey[Any]) -> Script[tuple[bool, Lease | None]]:
        """Try to become the one who fetches; the first answer is whether there was an answer."""
        if self.settings.flight_seconds is None:
            return False, None
        name = f"{self.session.name(key.form.plan.table)}{key.values!r}"
        if len(name.encode()) > _KEY_BYTES:
            name = hashlib.sha256(name.encode()).hexdigest()
        try:
            return (yield from self._ask([key], self._leases.acquire(name)))
        except InvalidInput as fault:
            self._notice(Notice("error", key.text, str(fault)))
            return False, None

    def _release(self, key: CacheKey[Any], lease: Lease | None) -> Script[None]:
        if lease is not None:
            yield from self._ask([key], self._leases.release(lease))

    def _ask(
        self, keys: Sequence[CacheKey[Any]], operation: Operation[R]
    ) -> Script[tuple[bool, R | None]]:
        """Ask the store, if it is not resting; answer whether it answered, and what.

        Raises InvalidInput, which is no failure of the store; all other errors end here.
        """
        kinds = {key.form.kind for key in keys}
        if not self.breaker.allows():
            self.tally.add(kinds, skipped=1)
            return False, None
        try:
            answer: R = yield Ask(operation)
        except InvalidInput:
            self.breaker.passed()
            raise
        except GrandstandError as fault:
            self._failed(kinds, keys[0].text, fault)
            return False, None
        self.breaker.passed()
        return True, answer

    def _failed(self, kinds: set[str], key: str, fault: GrandstandError) -> None:
        self.tally.add(kinds, errors=1)
        self._notice(Notice("error", key, f"{type(fault).__name__}: {fault}"))
        if not fault.retry:
            self.breaker.passed()
        elif self.breaker.failed():
            pause = f"left alone for {self.settings.breaker_seconds:g} s"
            self._notice(Notice("resting", key, pause))

    def _count(self, key: CacheKey[Any], told: Cached[Any]) -> None:
        kind = key.form.kind
        age = "" if told.age_seconds is None else f"{told.age_seconds:.0f} s old"
        match told.state:
            case "fresh":
                self.tally.add([kind], hits=1)
                self._notice(Notice("hit", key.text, age))
            case "negative":
                self.tally.add([kind], negatives=1)
                self._notice(Notice("negative", key.text, age))
            case "stale":
                self.tally.add([kind], stale=1)
                self._notice(Notice("stale", key.text, age))
            case "miss":
                self.tally.add([kind], misses=1)
                self._notice(Notice("miss", key.text))

    def _count_kept(self, kind: str, kept: Kept) -> None:
        if kept.way == "superseded":
            self.tally.add([kind], superseded=1)
        else:
            self.tally.add(
                [kind], writes=1, bytes_written=kept.stored_bytes, chunks_written=kept.chunks
            )
