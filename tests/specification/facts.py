"""What the specifications say of the keyed tables: tables, keys, entities, patterns, examples."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeVar

from tests.specification.fact_files import read

APPLICATIONS = ("bets", "cricket", "keiba", "trainer")

Item: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class KeyAttributeFact:
    """A key attribute; the type is S, N or B, or None where the specification gives none."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class TtlFact:
    """Whether a table's items expire; `expires` is None where nothing is stated."""

    expires: bool | None
    rule: str
    attribute: str | None = None
    lifetime_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class StreamFact:
    view: str
    purpose: str
    consumer: str
    flow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BillingFact:
    """PAY_PER_REQUEST, or PROVISIONED with its units."""

    mode: str
    read_units: int | None = None
    write_units: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AccessorFact:
    """A service a table's own section names, and what it does there."""

    service: str
    mode: str


@dataclass(frozen=True, slots=True)
class IndexFact:
    """A global index; `origin` is listed, or implied by the attributes of an entity.

    A projection of None is one the specification leaves open.
    """

    name: str
    origin: str
    purpose: str
    partition: KeyAttributeFact
    sort: KeyAttributeFact | None = None
    projection: str | None = None
    partition_templates: tuple[str, ...] = ()
    sort_templates: tuple[str, ...] = ()
    label: str | None = None
    order: str | None = None
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableFact:
    """A table as it is to be made; billing and stream are None where nothing is stated."""

    name: str
    purpose: str
    partition: KeyAttributeFact
    ttl: TtlFact
    sort: KeyAttributeFact | None = None
    indexes: tuple[IndexFact, ...] = ()
    stream: StreamFact | None = None
    billing: BillingFact | None = None
    number: int | None = None
    order: str | None = None
    configurable: str | None = None
    accessed_by: tuple[AccessorFact, ...] = ()
    replaces: tuple[str, ...] = ()
    expected_items: str | None = None
    item_bytes: int | None = None

    @property
    def stream_view(self) -> str | None:
        """The stream's view type, or None where no stream is stated."""
        return None if self.stream is None else self.stream.view


@dataclass(frozen=True, slots=True)
class RemovedTableFact:
    """A table that must not exist, under its full name or the short one."""

    name: str
    reason: str
    short_name: str | None = None
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class RemovedIndexFact:
    name: str
    table: str
    replaced_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class AttributeFact:
    """An attribute; type None is unstated, origin `resolved` came with a kept resolution.

    `fields` are the members of a map, or of each element of a list; `open` says that values or
    fields are only some; `applies` and `stage` for which items and from when on it is there.
    """

    name: str
    type: str | None = None
    origin: str = "stated"
    values: tuple[str, ...] = ()
    open: bool = False
    optional: bool = False
    applies: str | None = None
    stage: str | None = None
    note: str = ""
    fields: "tuple[AttributeFact, ...]" = ()


@dataclass(frozen=True, slots=True)
class KeyFact:
    """A key attribute's value: one template, or one of several."""

    attribute: str
    templates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlaceholderFact:
    """A placeholder that is not simply the attribute of its name."""

    name: str
    attribute: str | None = None
    form: str | None = None


@dataclass(frozen=True, slots=True)
class EntityFact:
    """A kind of item; `origin` is stated, or implied where a resolution adds it."""

    name: str
    table: str
    origin: str
    keys: tuple[KeyFact, ...]
    attributes: tuple[AttributeFact, ...]
    section: str = ""
    purpose: str = ""
    placeholders: tuple[PlaceholderFact, ...] = ()
    indexes: tuple[str, ...] = ()
    lifetime_seconds: int | None = None

    def templates(self, attribute: str) -> tuple[str, ...]:
        """The templates of a key attribute; none when it is stored as it is."""
        return next((key.templates for key in self.keys if key.attribute == attribute), ())

    def placeholder(self, name: str) -> PlaceholderFact:
        """Where a placeholder's value comes from; by default the attribute of that name."""
        plain = PlaceholderFact(name, attribute=name)
        return next((each for each in self.placeholders if each.name == name), plain)


@dataclass(frozen=True, slots=True)
class KeyConditionFact:
    """One term of a key condition; operands are templates."""

    attribute: str
    operator: str
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AssignmentFact:
    """An attribute an update sets; to a fixed value where one is stated."""

    attribute: str
    value: str | None = None
    absent_only: bool = False


@dataclass(frozen=True, slots=True)
class PatternFact:
    """An access pattern, numbered within its table.

    `operation` is what the specification calls it, `operations` the DynamoDB calls it takes.
    """

    number: int
    title: str
    table: str
    operation: str
    operations: tuple[str, ...]
    key: tuple[KeyConditionFact, ...] = ()
    index: str | None = None
    entity: str | None = None
    caller: str | None = None
    condition: str | None = None
    filter: str | None = None
    limit: int | None = None
    order: str | None = None
    sets: tuple[AssignmentFact, ...] = ()
    removes: tuple[str, ...] = ()
    batch: int | None = None
    returns: str | None = None
    paginated: bool = False
    retries: bool = False
    cached: bool = False
    admin: bool = False
    expected_items: str | None = None
    triggered_by: tuple[str, ...] = ()
    frequency: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ExampleFact:
    """An example item; an elided one shows only what differs from the one it continues."""

    title: str
    entity: str
    item: Item
    elided: bool = False
    continues: str | None = None


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """The structure of one attribute, with the specification's sample where it is valid JSON."""

    name: str
    entity: str
    attribute: str
    sample: Item | None = None


@dataclass(frozen=True, slots=True)
class SummaryFact:
    """A row of the access summary."""

    service: str
    tables: tuple[str, ...]
    mode: str


@dataclass(frozen=True, slots=True)
class AccessPairFact:
    service: str
    table: str


@dataclass(frozen=True, slots=True)
class DisagreementFact:
    """Where the access summary and the tables' own sections name different services."""

    only_in_tables: tuple[AccessPairFact, ...] = ()
    only_in_summary: tuple[AccessPairFact, ...] = ()
    wider_in_summary: tuple[AccessPairFact, ...] = ()


@dataclass(frozen=True, slots=True)
class LifecycleFact:
    subject: str
    event: str
    rule: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class FigureFact:
    group: str
    subject: str
    amount: Decimal | None = None
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioFact:
    requirement: str
    title: str
    when: str
    facts: tuple[str, ...]
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SideFact:
    where: str
    says: str


@dataclass(frozen=True, slots=True)
class ContradictionFact:
    """What a specification says twice, leaves open or asks for in vain, and what is kept.

    An unsettled one records the reading the facts follow until it is decided.
    """

    id: str
    kind: str
    about: tuple[str, ...]
    sides: tuple[SideFact, ...]
    kept: str
    settled: bool


@dataclass(frozen=True, slots=True)
class ApplicationFacts:
    application: str
    tables: tuple[TableFact, ...]
    entities: tuple[EntityFact, ...]
    patterns: tuple[PatternFact, ...]
    contradictions: tuple[ContradictionFact, ...]
    removed_tables: tuple[RemovedTableFact, ...] = ()
    removed_indexes: tuple[RemovedIndexFact, ...] = ()
    examples: tuple[ExampleFact, ...] = ()
    shapes: tuple[ShapeFact, ...] = ()
    access_summary: tuple[SummaryFact, ...] = ()
    access_disagreements: DisagreementFact = DisagreementFact()
    lifecycle: tuple[LifecycleFact, ...] = ()
    capacity: tuple[FigureFact, ...] = ()
    scenarios: tuple[ScenarioFact, ...] = ()

    def table(self, name: str) -> TableFact:
        """The table of that name; raises LookupError."""
        return _only(self.tables, (table.name == name for table in self.tables), name)

    def index(self, table: str, name: str) -> IndexFact:
        """An index of a table; raises LookupError."""
        indexes = self.table(table).indexes
        return _only(indexes, (index.name == name for index in indexes), name)

    def entity(self, name: str) -> EntityFact:
        """The entity of that name; raises LookupError."""
        return _only(self.entities, (entity.name == name for entity in self.entities), name)

    def patterns_of(self, table: str) -> tuple[PatternFact, ...]:
        """The access patterns of a table in the specification's order."""
        return tuple(pattern for pattern in self.patterns if pattern.table == table)

    def example(self, title: str) -> ExampleFact:
        """The example of that title; raises LookupError."""
        return _only(self.examples, (example.title == title for example in self.examples), title)

    def whole(self, example: ExampleFact) -> Item:
        """An example's item with what it leaves out filled in from the one it continues."""
        if example.continues is None:
            return dict(example.item)
        return {**self.whole(self.example(example.continues)), **example.item}


Fact = TypeVar("Fact")


def _only(facts: tuple[Fact, ...], chosen: Iterable[bool], name: str) -> Fact:
    found = [fact for fact, fits in zip(facts, chosen, strict=True) if fits]
    if len(found) != 1:
        raise LookupError(f"{len(found)} facts are called {name}")
    return found[0]


@cache
def facts_of(application: str) -> ApplicationFacts:
    """The facts of one of APPLICATIONS; raises FactsMalformed when its file is not sound."""
    return read(ApplicationFacts, Path(__file__).with_name(f"{application}.json"))
