"""Kept here: how an entity keeps what is cached: which of its fields play which part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from grandstand.storage.tables.declaration.codecs import REQUIRED
from grandstand.storage.tables.declaration.plan import SCHEMA_VERSION, EntityPlan
from grandstand.storage.tables.errors import DeclarationFault, InvalidRequest
from grandstand.storage.tables.expressions.nodes import Missing, Path
from grandstand.storage.tables.operations.checks import Check
from grandstand.storage.tables.values import Item, Key, Value

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.operations.queries import Reading
    from grandstand.storage.tables.session import Session

R = TypeVar("R", bound="Reading[Any]")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept, and in which way, in bytes.

    Up to `plain` a payload stays a native attribute; above it is compressed; above `item` it is
    cut into parts; above `payload`, counted as stored, it is not kept. `inflated` bounds what a
    compressed payload may grow to. Parts go in one transaction up to `transaction`. DynamoDB's own
    limits are 409 600 for an item and 4 MiB for a transaction.
    """

    plain: int = 380_000
    item: int = 380_000
    payload: int = 4_000_000
    inflated: int = 32_000_000
    transaction: int = 4_000_000


@dataclass(frozen=True, slots=True)
class Marks:
    """The names of the attributes that entries have beside the entity's own, where they need them.

    A compressed payload is in `blob`; a manifest has `chunks`, `generation`, `total_bytes` and
    `sha256`; both say in `enc` how the bytes were made. `neg` marks an entry that says there is
    nothing. A part has its bytes in `part`.
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
    """How one entity caches payloads of type V, and for how long.

    `data` and `fetched_at` name the fields of the payload and of the moment it was fetched; the
    expiry is the entity's `ttl()` field, so many `seconds` later; `also` answers the entity's
    other fields. Both may be worked out from the payload. Where a payload is more than one field,
    `also` answers all of them and `whole` makes it from the record. None fetched means that there
    is nothing: it is kept for `negative_seconds`, or not at all. An expired entry may be used for
    `stale_seconds` more, while it is still there, if the form `revalidates` (it is answered while
    a fresh one is fetched) or `outlives_errors` (it is answered when fetching fails). `jitter`
    shortens each life by up to that part of it. Raises DeclarationFault when the entity cannot
    play the part.
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
            message = f"{plan.name} needs a field with ttl() to be cached in"
            raise DeclarationFault(message)
        for name in (self.data, self.fetched_at):
            if name not in plan.fields:
                message = f"{plan.name} has no field {name}; it has {', '.join(plan.fields)}"
                raise DeclarationFault(message)
        if get_type_hints(self.entity)[self.fetched_at] is not datetime:
            message = f"{plan.name}.{self.fetched_at} is a moment: declare it datetime"
            raise DeclarationFault(message)
        self._check_rest(plan)
        if (self.revalidates or self.outlives_errors) and self.stale_seconds <= 0:
            message = f"The form for {plan.name} uses stale entries: say how long, in stale_seconds"
            raise DeclarationFault(message)

    def _check_rest(self, plan: EntityPlan[Any]) -> None:
        filled = {*plan.primary_names, self.data, self.fetched_at}
        lacking = [
            name
            for name, target in plan.fields.items()
            if target.absent is REQUIRED and name not in filled
        ]
        if lacking and self.also is None:
            message = (
                f"The cache cannot fill {', '.join(lacking)} of {plan.name}: give defaults, or "
                "answer them with `also`"
            )
            raise DeclarationFault(message)
        own = {target.attribute for target in plan.fields.values()}
        taken = sorted(own & set(asdict(self.marks).values()))
        if taken:
            message = f"{plan.name} has {', '.join(taken)} already: name the form's marks otherwise"
            raise DeclarationFault(message)

    @property
    def plan(self) -> EntityPlan[Any]:
        """The compiled entity."""
        return self.entity.__plan__

    @property
    def kind(self) -> str:
        """The name under which its entries are counted."""
        return self.plan.name

    @property
    def data_attribute(self) -> str:
        """The attribute of a native payload."""
        return self.plan.fields[self.data].attribute

    def key(self, **fields: object) -> CacheKey[V]:
        """Name an entry by the fields of its key; raise DeclarationFault when they make none."""
        return CacheKey(self, self.plan.key(fields), fields)

    def life(self, value: V | None) -> float | None:
        """Answer for how many seconds a payload is kept; None when it is not."""
        if value is None:
            return self.negative_seconds
        return self.seconds(value) if callable(self.seconds) else self.seconds

    def payload(self, record: Entity) -> V | None:
        """Answer the payload of a record."""
        return getattr(record, self.data) if self.whole is None else self.whole(record)

    def native(
        self, session: Session, key: CacheKey[V], value: V, times: tuple[datetime, datetime]
    ) -> Item:
        """Make the item of an entry fetched and expiring at those times, its payload native.

        Raises InvalidRequest when the payload is not what the entity declares, or makes another
        key than it is to be kept under.
        """
        plan = self.plan
        fields = {name: field for name, field in key.fields.items() if name in plan.fields}
        try:
            fields |= {self.data: value} | dict(self.also(value) if self.also is not None else {})
            record = self.entity(**{**fields, **self._times(times)})
            item = plan.encode(record.put().stored(session))
        except (AttributeError, TypeError, ValueError, LookupError, ArithmeticError) as fault:
            message = f"The payload of {key.text} is not what {plan.name} declares: {fault}"
            raise InvalidRequest(message) from fault
        if any(item[name] != wanted for name, wanted in key.key.items()):
            message = f"The payload of {key.text} belongs to another key"
            raise InvalidRequest(message)
        if self.data_attribute not in item:
            message = f"The payload of {key.text} is stored as nothing, so it cannot be cached"
            raise InvalidRequest(message)
        return item

    def negative(self, key: CacheKey[V], times: tuple[datetime, datetime]) -> Item:
        """Make the item of an entry that says there is nothing."""
        item: Item = dict(key.key)
        for name, value in {**key.fields, **self._times(times)}.items():
            target = self.plan.fields.get(name)
            if target is not None:
                item[target.attribute] = target.encoded(value)
        if self.plan.schema_version is not None:
            item[SCHEMA_VERSION] = self.plan.schema_version
        return {**item, self.marks.neg: True}

    def _times(self, times: tuple[datetime, datetime]) -> dict[str, datetime]:
        assert self.plan.ttl is not None  # noqa: S101 - asked when the form was made
        return dict(zip((self.fetched_at, self.plan.ttl.name), times, strict=True))

    def moment(self, item: Item) -> datetime:
        """Read when an entry was fetched; raise LookupError when it does not say."""
        target = self.plan.fields[self.fetched_at]
        stored = item[target.attribute]
        assert target.codec.decode is not None  # noqa: S101 - a moment is never stored as it is
        read: datetime = target.codec.decode(stored)
        return read

    def as_stored(self, fetched_at: datetime) -> Value:
        """Write when an entry was fetched as its attribute has it."""
        stored: Value = self.plan.fields[self.fetched_at].encoded(fetched_at)
        return stored

    def only_entries(self, reading: R) -> R:
        """Narrow a query or scan of the entity to whole entries, leaving parts of payloads out."""
        return reading.where(Check(Missing(Path((self.marks.part,)))))


@dataclass(frozen=True)
class CacheKey(Generic[V]):
    """One entry of a cache, there or not."""

    form: CacheForm[V]
    key: Key
    fields: Mapping[str, object] = field(repr=False)

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of its key, partition first."""
        return tuple(self.key.values())

    @property
    def text(self) -> str:
        """The key in one line, for people."""
        return "/".join(str(value) for value in self.values)
