"""A cache over any entity, with expiry, single flight and large payloads.

Example:
    PAGES = CacheForm(PageItem, seconds=3600, data="body", fetched_at="fetched_at")
    cache = AsyncCache(store, owner="host-1", random=Random())
    page = await cache.get_or_fetch(PAGES.key(url=url), download)
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar, get_type_hints

from grandstand.core.clock import Clock
from grandstand.core.errors import (
    GrandstandError,
    InvalidInput,
    LimitReached,
    SourceFailed,
    Unavailable,
)
from grandstand.storage.tables.attribute_values import Item, Key, Value
from grandstand.storage.tables.cache_payload import DeleteEntry, EntryRead, ReadEntries, WriteEntry
from grandstand.storage.tables.declaration.compiled import SCHEMA_VERSION, EntityPlan
from grandstand.storage.tables.declaration.fields import REQUIRED
from grandstand.storage.tables.errors import DeclarationFault, InvalidRequest
from grandstand.storage.tables.leases import FLIGHTS, Lease, Leases
from grandstand.storage.tables.operations.item_ops import Operation

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.operations.queries import ReadQuery
    from grandstand.storage.tables.store import AsyncStore, Session

Q = TypeVar("Q", bound="ReadQuery[Any]")
R = TypeVar("R")
V = TypeVar("V")
Sleep = Callable[[float], Awaitable[None]]
State: TypeAlias = Literal["fresh", "stale", "miss", "negative"]
EventKind: TypeAlias = Literal[
    "hit", "miss", "stale", "negative", "error", "damaged", "rejected", "paused"
]

# The event and the counter of each result of a lookup.
_LOOKUPS: Final[dict[State, tuple[EventKind, str]]] = {
    "fresh": ("hit", "hits"),
    "negative": ("negative", "negatives"),
    "stale": ("stale", "stale"),
    "miss": ("miss", "misses"),
}
_logger: Final = logging.getLogger("grandstand.cache")


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits in bytes.

    Up to `plain` a payload is a native attribute; above that it is compressed; above `item` it
    is split into chunks; above `payload`, counted as stored, it is not cached. `inflated` limits
    the uncompressed size. Chunks are written in one transaction up to `transaction`. DynamoDB
    allows 409,600 for an item and 4 MiB for a transaction.
    """

    plain: int = 380_000
    item: int = 380_000
    payload: int = 4_000_000
    inflated: int = 32_000_000
    transaction: int = 4_000_000


@dataclass(frozen=True, slots=True)
class Marks:
    """Names of the attributes that entries have in addition to the entity's own.

    A compressed payload is in `blob`; a manifest has `chunks`, `generation`, `total_bytes` and
    `sha256`; both have the encoding in `enc`. `neg` marks a negative entry. A chunk has its bytes
    in `part`.
    """

    blob: str = "blob"
    enc: str = "enc"
    chunks: str = "chunks"
    generation: str = "generation"
    total_bytes: str = "total_bytes"
    sha256: str = "sha256"
    neg: str = "neg"
    part: str = "part"


@dataclass(frozen=True)
class CacheForm(Generic[V]):
    """How an entity caches payloads of type V.

    Raises DeclarationFault if the entity cannot be used as a cache entry.

    Attributes:
        entity: An entity with a `ttl()` field, which holds the expiry.
        seconds: The lifetime, or a function of the payload that returns it.
        negative_seconds: How long to remember that there is no payload; None: not at all.
        stale_seconds: How long after its expiry an entry may still be used.
        revalidates: Return a stale entry while a fresh one is fetched in the background.
        outlives_errors: Return a stale entry if fetching fails.
        jitter: Shorten each lifetime by a random share of at most this.
        data: The field of the payload.
        fetched_at: The field of the time it was fetched.
        also: Returns the entity's other fields for a payload.
        whole: Builds the payload from the record, if it is more than the field `data`.
        marks: Names of additional attributes.
    """

    entity: type[Entity]
    seconds: float | Callable[[V], float]
    negative_seconds: float | None = None
    stale_seconds: float = 0.0
    revalidates: bool = False
    outlives_errors: bool = False
    jitter: float = 0.0
    data: str = "data"
    fetched_at: str = "fetched_at"
    also: Callable[[V], Mapping[str, object]] | None = None
    whole: Callable[[Any], V] | None = None
    marks: Marks = Marks()

    def __post_init__(self) -> None:
        plan = self.plan
        if plan.ttl is None:
            raise DeclarationFault(f"{plan.name} needs a field with ttl() to be used as a cache.")
        for name in (self.data, self.fetched_at):
            if name not in plan.fields:
                raise DeclarationFault(
                    f"{plan.name} has no field {name}. Fields: {', '.join(plan.fields)}."
                )
        if get_type_hints(self.entity)[self.fetched_at] is not datetime:
            raise DeclarationFault(f"Declare {plan.name}.{self.fetched_at} as datetime.")
        self._check_other_fields(plan)
        if (self.revalidates or self.outlives_errors) and self.stale_seconds <= 0:
            raise DeclarationFault(
                f"The cache form of {plan.name} uses stale entries: set stale_seconds."
            )

    def _check_other_fields(self, plan: EntityPlan[Any]) -> None:
        filled = {*plan.primary_names, self.data, self.fetched_at}
        missing = [
            name
            for name, target in plan.fields.items()
            if target.absent is REQUIRED and name not in filled
        ]
        if missing and self.also is None:
            raise DeclarationFault(
                f"The cache cannot fill {', '.join(missing)} of {plan.name}: declare defaults, or "
                "return the fields from `also`."
            )
        own = {target.attribute for target in plan.fields.values()}
        clashing = sorted(own & set(asdict(self.marks).values()))
        if clashing:
            raise DeclarationFault(
                f"{plan.name} already has {', '.join(clashing)}: give the form other `marks`."
            )

    @property
    def plan(self) -> EntityPlan[Any]:
        return self.entity.__plan__

    @property
    def kind(self) -> str:
        """The name under which entries are counted."""
        return self.plan.name

    @property
    def data_attribute(self) -> str:
        """The attribute of a native payload."""
        return self.plan.fields[self.data].attribute

    def key(self, **fields: object) -> CacheKey[V]:
        """Return the key of an entry, from the fields of the entity's key.

        Raises DeclarationFault if the fields do not form a key.
        """
        return CacheKey(self, self.plan.key(fields), fields)

    def lifetime_seconds(self, value: V | None) -> float | None:
        """Return how long a payload is cached, or None if it is not."""
        if value is None:
            return self.negative_seconds
        return self.seconds(value) if callable(self.seconds) else self.seconds

    def payload(self, record: Entity) -> V | None:
        """Return the payload of a record."""
        return getattr(record, self.data) if self.whole is None else self.whole(record)

    def native_item(
        self, session: Session, key: CacheKey[V], value: V, times: tuple[datetime, datetime]
    ) -> Item:
        """Return the item for a payload fetched and expiring at `times`.

        Raises InvalidRequest if the payload does not match the entity's declaration or belongs
        to another key.
        """
        plan = self.plan
        fields = {name: field for name, field in key.fields.items() if name in plan.fields}
        try:
            fields |= {self.data: value} | dict(self.also(value) if self.also is not None else {})
            record = self.entity(**{**fields, **self._time_fields(times)})
            item = plan.encode(record.put().stored(session))
        except (AttributeError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise InvalidRequest(
                f"The payload of {key.text} does not match the declaration of {plan.name}: {error}"
            ) from error
        if any(item[name] != expected for name, expected in key.key.items()):
            raise InvalidRequest(f"The payload of {key.text} belongs to another key")
        if self.data_attribute not in item:
            raise InvalidRequest(f"The payload of {key.text} is empty and cannot be cached")
        return item

    def negative_item(self, key: CacheKey[V], times: tuple[datetime, datetime]) -> Item:
        """Return the item that records that there is no payload."""
        item: Item = dict(key.key)
        for name, value in {**key.fields, **self._time_fields(times)}.items():
            target = self.plan.fields.get(name)
            if target is not None:
                item[target.attribute] = target.encoded(value)
        if self.plan.schema_version is not None:
            item[SCHEMA_VERSION] = self.plan.schema_version
        return {**item, self.marks.neg: True}

    def _time_fields(self, times: tuple[datetime, datetime]) -> dict[str, datetime]:
        assert self.plan.ttl is not None  # noqa: S101 - checked in __post_init__
        return dict(zip((self.fetched_at, self.plan.ttl.name), times, strict=True))

    def read_fetched_at(self, item: Item) -> datetime:
        """Return when an entry was fetched. Raises LookupError if the item does not say."""
        target = self.plan.fields[self.fetched_at]
        assert target.codec.decode is not None  # noqa: S101 - every datetime has a decoder
        fetched_at: datetime = target.codec.decode(item[target.attribute])
        return fetched_at


@dataclass(frozen=True)
class CacheKey(Generic[V]):
    """The key of one entry, whether it exists or not."""

    form: CacheForm[V]
    key: Key
    fields: Mapping[str, object] = field(repr=False)

    @property
    def values(self) -> tuple[Value, ...]:
        """The key's values, partition first."""
        return tuple(self.key.values())

    @property
    def text(self) -> str:
        """The key in one line, for messages."""
        return "/".join(str(value) for value in self.values)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counters of one kind of entry, or of all.

    Each lookup counts once: as a hit, negative, stale, shared (fetched by another caller) or
    miss. `expired` counts expired entries found, `skipped` calls not made while the store was
    paused, `refused` payloads that could not be stored, `damaged` incomplete entries.
    """

    hits: int = 0
    negatives: int = 0
    stale: int = 0
    shared: int = 0
    misses: int = 0
    expired: int = 0
    fetches: int = 0
    errors: int = 0
    skipped: int = 0
    refused: int = 0
    damaged: int = 0
    writes: int = 0
    superseded: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    chunks_read: int = 0
    chunks_written: int = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """All counters at one moment."""

    total: Counts = Counts()
    by_kind: Mapping[str, Counts] = field(default_factory=dict)


class CircuitBreaker:
    """Stops calls after several failures in a row; after a pause, allows one trial at a time."""

    def __init__(self, clock: Clock, *, max_errors: int, pause_seconds: float) -> None:
        self._clock = clock
        self._max_errors = max_errors
        self._pause_seconds = pause_seconds
        self._errors = 0
        self._paused_until: float | None = None

    def allows_call(self) -> bool:
        if self._paused_until is None:
            return True
        now = self._clock.monotonic()
        if now < self._paused_until:
            return False
        self._paused_until = now + self._pause_seconds
        return True

    def record_success(self) -> None:
        self._errors = 0
        self._paused_until = None

    def record_failure(self) -> bool:
        """Count a failure; return whether a pause begins with it."""
        self._errors += 1
        if self._errors < self._max_errors:
            return False
        begins = self._paused_until is None
        self._paused_until = self._clock.monotonic() + self._pause_seconds
        return begins


class AsyncFlights:
    """Single flight: of the tasks that want the same thing, one does the work."""

    def __init__(self) -> None:
        self._flying: dict[Hashable, asyncio.Future[Any]] = {}

    async def fly(
        self,
        key: Hashable,
        call: Callable[[], Awaitable[R]],
        fallback: Callable[[], Awaitable[R]],
        wait_seconds: float,
    ) -> tuple[R, bool]:
        """Run `call`, or wait for the task that is running it.

        An error of `call` is raised to every waiter. If the leader is cancelled, the next waiter
        takes over.

        Args:
            key: Identifies the work.
            call: The work.
            fallback: Run instead after waiting for `wait_seconds`.
            wait_seconds: How long to wait for another task.

        Returns:
            The result, and whether it came from another task.
        """
        while (flight := self._flying.get(key)) is not None:
            await asyncio.wait([flight], timeout=wait_seconds)
            if not flight.done():
                return await fallback(), False
            if not flight.cancelled():
                return flight.result(), True
        flight = self._flying[key] = asyncio.get_running_loop().create_future()
        return await self._lead(key, flight, call), False

    async def _lead(
        self, key: Hashable, flight: asyncio.Future[R], call: Callable[[], Awaitable[R]]
    ) -> R:
        try:
            result = await call()
        except Exception as error:
            flight.set_exception(error)
            flight.exception()
            raise
        except BaseException:
            flight.cancel()
            raise
        else:
            flight.set_result(result)
            return result
        finally:
            del self._flying[key]


@dataclass(frozen=True, slots=True)
class Cached(Generic[V]):
    """The result of a lookup.

    "fresh" and "negative" (known to be nothing) have not expired; "stale" has; for "miss" the
    value is what was just fetched, or None. `age_seconds` counts from the fetch. `error` is why
    a stale value was used.
    """

    value: V | None
    state: State
    age_seconds: float | None = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class CacheEvent:
    """A lookup's result, or a failure."""

    kind: EventKind
    key: str
    detail: str = ""


def log_event(event: CacheEvent) -> None:
    """Log failures as warnings and lookups at debug level."""
    level = (
        logging.WARNING
        if event.kind in ("error", "damaged", "rejected", "paused")
        else logging.DEBUG
    )
    _logger.log(level, "cache_%s key=%s detail=%r", event.kind, event.key, event.detail)


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """How a cache behaves.

    Attributes:
        flight_seconds: How long a process holds the lease on fetching an entry. With None every
            process fetches on its own.
        wait_seconds: How long to wait for another process to fetch before fetching as well.
        poll_seconds: How often to look while waiting.
        breaker_errors: Failures in a row after which the store is left alone.
        breaker_seconds: How long it is left alone.
        limits: Size limits.
        stale_on: Errors of a fetch for which a stale entry may be used instead.
    """

    flight_seconds: float | None = 30.0
    wait_seconds: float = 10.0
    poll_seconds: float = 0.2
    breaker_errors: int = 3
    breaker_seconds: float = 30.0
    limits: Limits = field(default_factory=Limits)
    stale_on: tuple[type[Exception], ...] = (SourceFailed, Unavailable, LimitReached)


_MISS: Final[Cached[Any]] = Cached(None, "miss")


class _StoreFailed(Exception):
    """The store did not answer, or was not called because it is paused."""


class AsyncCache:
    """A cache for the tasks of one event loop.

    Failures of the store are counted and logged, never raised: what cannot be read is a miss.
    Entries are stored in the entities' own tables, leases on fetching in `grandstand-leases`.
    """

    def __init__(
        self,
        store: AsyncStore,
        *,
        owner: str,
        random: Random,
        settings: CacheSettings | None = None,
        on_event: Callable[[CacheEvent], None] = log_event,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Create a cache.

        Args:
            store: Where entries are stored.
            owner: The name of this process among those that share the tables.
            random: For jitter.
            settings: How the cache behaves.
            on_event: Called for each lookup and failure.
            sleep: For waiting for another process.
        """
        self._store = store
        self._session = store.store.session
        self._settings = settings or CacheSettings()
        self._random = random
        self._on_event = on_event
        self._sleep = sleep
        self._flights = AsyncFlights()
        self._refreshes: set[asyncio.Task[None]] = set()
        self._total: Counter[str] = Counter()
        self._by_kind: dict[str, Counter[str]] = {}
        self._breaker = CircuitBreaker(
            self._session.clock,
            max_errors=self._settings.breaker_errors,
            pause_seconds=self._settings.breaker_seconds,
        )
        self._leases = Leases(FLIGHTS, owner, seconds=self._settings.flight_seconds or 1.0)

    async def get(self, key: CacheKey[V], *, stale: bool = False) -> Cached[V]:
        """Return an entry; with `stale` also an expired one, as its form allows."""
        return (await self.get_many([key], stale=stale))[0]

    async def get_many(
        self, keys: Iterable[CacheKey[V]], *, stale: bool = False
    ) -> list[Cached[V]]:
        """Return many entries at once, in the order of the keys."""
        keys = list(keys)
        results = [
            result if stale or result.state != "stale" else _MISS
            for result in await self._read(keys)
        ]
        for key, result in zip(keys, results, strict=True):
            self._count_lookup(key, result)
        return results

    async def get_or_fetch(
        self, key: CacheKey[V], fetch: Callable[[], Awaitable[V | None]]
    ) -> Cached[V]:
        """Return an entry, or the result of `fetch`, which is cached.

        None from `fetch` means that there is nothing. Of all tasks and processes that want the
        entry, one fetches; the others wait for a limited time and then fetch as well. Raises
        what `fetch` raises, unless the form allows a stale entry instead.
        """
        result, shared = await self._flights.fly(
            (key.form.plan.table.name, *key.values),
            lambda: self._get_or_fill(key, fetch),
            lambda: self._fetch(key, fetch, _MISS, None),
            self._settings.wait_seconds,
        )
        if shared:
            self._count([key.form.kind], shared=1)
        return result

    async def put(self, key: CacheKey[V], value: V | None) -> bool:
        """Cache a payload, or None, as fetched now; return False if it could not be stored."""
        return await self._write(key, value, self._session.clock.now())

    async def forget(self, key: CacheKey[Any]) -> bool:
        """Delete an entry; return False if there was none or the store failed."""
        try:
            return await self._run([key], DeleteEntry(key))
        except _StoreFailed:
            return False

    async def settle(self) -> None:
        """Wait until no entry is being refreshed in the background."""
        while self._refreshes:
            await asyncio.gather(*self._refreshes)

    def statistics(self) -> Statistics:
        return Statistics(
            Counts(**self._total),
            {kind: Counts(**counter) for kind, counter in self._by_kind.items()},
        )

    def _count(self, kinds: Iterable[str], **numbers: int) -> None:
        """Add to the total once, and to each of the kinds."""
        self._total.update(numbers)
        for kind in set(kinds):
            self._by_kind.setdefault(kind, Counter()).update(numbers)

    async def _get_or_fill(
        self, key: CacheKey[V], fetch: Callable[[], Awaitable[V | None]]
    ) -> Cached[V]:
        [result] = await self._read([key])
        if result.state in ("fresh", "negative"):
            self._count_lookup(key, result)
            return result
        if result.state == "stale" and key.form.revalidates:
            self._count_lookup(key, result)
            task = asyncio.create_task(self._refresh(key, fetch))
            self._refreshes.add(task)
            task.add_done_callback(self._refreshes.discard)
            return result
        return await self._fill(key, fetch, result)

    async def _refresh(self, key: CacheKey[V], fetch: Callable[[], Awaitable[V | None]]) -> None:
        """Fetch and cache an entry unless another process is doing so.

        After a failure the lease is kept, so that its duration is the pause before the next try.
        """
        _, lease = await self._claim(key)
        if lease is None:
            return
        [result] = await self._read([key])
        if result.state == "fresh":
            await self._release(key, lease)
            return
        started = self._session.clock.now()
        try:
            value = await fetch()
        except GrandstandError as error:
            self._on_event(CacheEvent("error", key.text, f"refresh failed: {error}"))
            return
        self._count([key.form.kind], fetches=1)
        await self._write(key, value, started)
        await self._release(key, lease)

    async def _fill(
        self, key: CacheKey[V], fetch: Callable[[], Awaitable[V | None]], stale: Cached[V]
    ) -> Cached[V]:
        """Fetch an entry, or wait for the process that is fetching it."""
        available, lease = await self._claim(key)
        waited = 0.0
        while available and lease is None and waited < self._settings.wait_seconds:
            pause = self._settings.poll_seconds * self._random.uniform(0.5, 1.0)
            await self._sleep(pause)
            waited += pause
            if (result := await self._read_shared(key)) is not None:
                return result
            available, lease = await self._claim(key)
        if lease is not None and (result := await self._read_shared(key)) is not None:
            await self._release(key, lease)
            return result
        return await self._fetch(key, fetch, stale, lease)

    async def _read_shared(self, key: CacheKey[V]) -> Cached[V] | None:
        """Return what another process has fetched meanwhile."""
        [result] = await self._read([key])
        if result.state not in ("fresh", "negative"):
            return None
        self._count([key.form.kind], shared=1)
        return result

    async def _fetch(
        self,
        key: CacheKey[V],
        fetch: Callable[[], Awaitable[V | None]],
        stale: Cached[V],
        lease: Lease | None,
    ) -> Cached[V]:
        started = self._session.clock.now()
        try:
            value = await fetch()
        except GeneratorExit:
            raise
        except BaseException as error:
            await self._release(key, lease)
            if (
                stale.state == "stale"
                and key.form.outlives_errors
                and isinstance(error, self._settings.stale_on)
            ):
                result = replace(stale, error=error)
                self._count_lookup(key, result)
                return result
            self._count_lookup(key, _MISS)
            raise
        self._count_lookup(key, _MISS)
        self._count([key.form.kind], fetches=1)
        await self._write(key, value, started)
        await self._release(key, lease)
        return Cached(value, "miss" if value is not None else "negative", 0.0)

    async def _read(self, keys: Sequence[CacheKey[V]]) -> list[Cached[V]]:
        if not keys:
            return []
        try:
            entries = await self._run(keys, ReadEntries(tuple(keys), self._settings.limits))
        except _StoreFailed:
            return [_MISS] * len(keys)
        except InvalidInput as error:
            self._count({key.form.kind for key in keys}, errors=1)
            self._on_event(CacheEvent("error", keys[0].text, str(error)))
            return [_MISS] * len(keys)
        return [self._lookup(key, entry) for key, entry in zip(keys, entries, strict=True)]

    def _lookup(self, key: CacheKey[V], read: EntryRead[V]) -> Cached[V]:
        kind, entry = key.form.kind, read.entry
        self._count([kind], bytes_read=read.stored_bytes, chunks_read=read.chunks)
        if read.damage is not None:
            self._count([kind], damaged=1)
            self._on_event(CacheEvent("damaged", key.text, read.damage))
        if entry is None:
            return _MISS
        now = self._session.clock.epoch()
        age = now - entry.fetched_at.timestamp()
        if now < entry.expires:
            return Cached(entry.value, "negative" if entry.negative else "fresh", age)
        self._count([kind], expired=1)
        if not entry.negative and now < entry.expires + key.form.stale_seconds:
            return Cached(entry.value, "stale", age)
        return _MISS

    async def _write(self, key: CacheKey[V], value: V | None, fetched_at: datetime) -> bool:
        form = key.form
        seconds = form.lifetime_seconds(value)
        if seconds is None:
            return False
        lifetime = timedelta(seconds=seconds * (1 - form.jitter * self._random.random()))
        generation = f"{int(self._session.clock.epoch() * 1000):x}-{token_hex(4)}"
        write = WriteEntry(
            key, value, fetched_at, fetched_at + lifetime, generation, self._settings.limits
        )
        try:
            written = await self._run([key], write)
        except _StoreFailed:
            return False
        except InvalidInput as error:
            self._count([form.kind], refused=1)
            self._on_event(CacheEvent("rejected", key.text, str(error)))
            return False
        if written.outcome == "superseded":
            self._count([form.kind], superseded=1)
            return False
        size, chunks = written.stored_bytes, written.chunks
        self._count([form.kind], writes=1, bytes_written=size, chunks_written=chunks)
        return True

    async def _claim(self, key: CacheKey[Any]) -> tuple[bool, Lease | None]:
        """Try to take the lease on fetching; return also whether leases are available at all."""
        if self._settings.flight_seconds is None:
            return False, None
        name = f"{self._session.name(key.form.plan.table)}{key.values!r}"
        if len(name.encode()) > 1_000:
            name = hashlib.sha256(name.encode()).hexdigest()
        try:
            return True, await self._run([key], self._leases.acquire(name))
        except _StoreFailed:
            return False, None
        except InvalidInput as error:
            self._on_event(CacheEvent("error", key.text, str(error)))
            return False, None

    async def _release(self, key: CacheKey[Any], lease: Lease | None) -> None:
        if lease is not None:
            try:
                await self._run([key], self._leases.release(lease))
            except _StoreFailed:
                return

    async def _run(self, keys: Sequence[CacheKey[Any]], operation: Operation[R]) -> R:
        """Run an operation on the store.

        Raises _StoreFailed if the store fails or is paused, and InvalidInput, which is not a
        failure of the store.
        """
        kinds = {key.form.kind for key in keys}
        if not self._breaker.allows_call():
            self._count(kinds, skipped=1)
            raise _StoreFailed
        try:
            result = await self._store(operation)
        except InvalidInput:
            self._breaker.record_success()
            raise
        except GrandstandError as error:
            self._record_failure(kinds, keys[0].text, error)
            raise _StoreFailed from error
        self._breaker.record_success()
        return result

    def _record_failure(self, kinds: set[str], key: str, error: GrandstandError) -> None:
        self._count(kinds, errors=1)
        self._on_event(CacheEvent("error", key, f"{type(error).__name__}: {error}"))
        if not error.retry:
            self._breaker.record_success()
        elif self._breaker.record_failure():
            seconds = self._settings.breaker_seconds
            self._on_event(CacheEvent("paused", key, f"for {seconds:g} s"))

    def _count_lookup(self, key: CacheKey[Any], result: Cached[Any]) -> None:
        event, counter = _LOOKUPS[result.state]
        age = "" if result.age_seconds is None else f"{result.age_seconds:.0f} s old"
        self._count([key.form.kind], **{counter: 1})
        self._on_event(CacheEvent(event, key.text, age))
