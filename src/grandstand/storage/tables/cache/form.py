"""Kept here: how an entity keeps what is cached: which of its fields play which part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from grandstand.storage.tables.checks import Check
from grandstand.storage.tables.codecs import REQUIRED
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.expressions.nodes import Missing, Path
from grandstand.storage.tables.values import Key, Value

if TYPE_CHECKING:
    from grandstand.storage.tables.entity import Entity
    from grandstand.storage.tables.plan import EntityPlan
    from grandstand.storage.tables.queries import Reading

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
    expiry is the entity's `ttl()` field. None fetched means that there is nothing: it is kept for
    `negative_seconds`, or not at all. An expired entry may be used for `stale_seconds` more, while
    it is still there, if the form `revalidates` (it is answered while a fresh one is fetched) or
    `outlives_errors` (it is answered when fetching fails). `jitter` shortens each life by up to
    that part of it. Raises DeclarationFault when the entity cannot play the part.
    """

    entity: type[Entity]
    seconds: float
    negative_seconds: float | None = None
    stale_seconds: float = 0.0
    revalidates: bool = False
    outlives_errors: bool = False
    jitter: float = 0.0
    data: str = "data"
    fetched_at: str = "fetched_at"
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
        if plan.fields[self.data].absent is not None:
            message = (
                f"{plan.name}.{self.data} is absent where a payload is compressed or in parts: "
                "declare it so that it may be None"
            )
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
        if lacking:
            message = (
                f"The cache cannot fill {', '.join(lacking)} of {plan.name}: give a default to it"
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

    def record(
        self, key: CacheKey[V], value: V | None, fetched_at: datetime, expires_at: datetime
    ) -> Entity:
        """Make the entity of an entry."""
        assert self.plan.ttl is not None  # noqa: S101 - asked when the form was made
        fields = {
            self.data: value,
            self.fetched_at: fetched_at,
            self.plan.ttl.name: expires_at,
        }
        return self.entity(**key.fields, **fields)

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
