"""Where physical tables, in the shape of DynamoDB's CreateTable, depart from the facts."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from tests.specification.create_table import PhysicalIndex, PhysicalTable, physical_table
from tests.specification.facts import (
    ApplicationFacts,
    IndexFact,
    KeyAttributeFact,
    TableFact,
)
from tests.specification.templates import fields_of


def departures(
    fact: TableFact,
    description: Mapping[str, object] | None,
    *,
    ttl: str | None = None,
    prefix: str = "",
    beyond: Collection[str] = (),
) -> list[str]:
    """One sentence for each point in which a table departs from its fact; none when it agrees.

    `description` is a CreateTable request, None when there is no such table; `ttl` the attribute
    its items expire by; `prefix` what is put before table names; `beyond` the indexes that are
    meant to be there without being specified. What a specification leaves open is not compared.
    Raises DescriptionMalformed when the description is no CreateTable request.
    """
    if description is None:
        return [f"{fact.name}: the table is missing"]
    table = physical_table(description)
    return [
        f"{fact.name}: {sentence}"
        for sentence in (
            *_name(fact, table, prefix),
            *_key("partition key", table.partition, fact.partition),
            *_key("sort key", table.sort, fact.sort),
            *table.faults,
            *_indexes(fact, table, beyond),
            *_billing(fact, table),
            *_stream(fact, table),
            *_ttl(fact, ttl),
        )
    ]


def application_departures(
    facts: ApplicationFacts,
    descriptions: Iterable[Mapping[str, object]],
    *,
    ttls: Mapping[str, str] | None = None,
    prefix: str = "",
    beyond_tables: Collection[str] = (),
    beyond_indexes: Collection[str] = (),
) -> list[str]:
    """As `departures`, over all tables of an application, removed and unspecified ones included.

    `ttls` gives the expiry attribute by physical table name; `beyond_tables` the physical names
    of tables that are meant to be there without being specified.
    """
    named = {physical_table(each).name: each for each in descriptions}
    sentences: list[str] = []
    specified: set[str] = set()
    for fact in facts.tables:
        fitting = [name for name in named if fields_of(prefix + fact.name, name) is not None]
        specified.update(fitting)
        if not fitting:
            sentences += departures(fact, None)
        for name in fitting:
            ttl = (ttls or {}).get(name)
            sentences += departures(
                fact, named[name], ttl=ttl, prefix=prefix, beyond=beyond_indexes
            )
    sentences += _removed(facts, named, prefix)
    strangers = named.keys() - specified - set(beyond_tables)
    sentences += [f"{name}: the specification has no such table" for name in sorted(strangers)]
    return sentences


def _removed(
    facts: ApplicationFacts, named: Mapping[str, Mapping[str, object]], prefix: str
) -> Iterator[str]:
    for table in facts.removed_tables:
        for name in (table.name, table.short_name):
            if name is not None and prefix + name in named:
                yield f"{prefix + name}: the specification removed this table"
    for index in facts.removed_indexes:
        description = named.get(prefix + index.table)
        held = physical_table(description).indexes if description is not None else ()
        if any(each.name == index.name for each in held):
            yield f"{index.table}: the specification removed index {index.name}"


def _name(fact: TableFact, table: PhysicalTable, prefix: str) -> Iterator[str]:
    if fields_of(prefix + fact.name, table.name) is None:
        yield f"the table is named {table.name}, not {prefix + fact.name}"


def _key(
    role: str, found: KeyAttributeFact | None, expected: KeyAttributeFact | None
) -> Iterator[str]:
    if found is None or expected is None:
        if found is not expected:
            yield f"the {role} is {_spelled(found)}, not {_spelled(expected)}"
    elif found.name != expected.name:
        yield f"the {role} is {found.name}, not {expected.name}"
    elif expected.type is not None and found.type not in (None, expected.type):
        yield f"the {role} {found.name} has type {found.type}, not {expected.type}"


def _spelled(key: KeyAttributeFact | None) -> str:
    return "absent" if key is None else key.name


def _indexes(fact: TableFact, table: PhysicalTable, beyond: Collection[str]) -> Iterator[str]:
    held = {index.name: index for index in table.indexes}
    for expected in fact.indexes:
        if expected.name in held:
            yield from _index(expected, held[expected.name])
        else:
            yield f"index {expected.name} is missing"
    specified = {index.name for index in fact.indexes}
    for name in held:
        if name not in specified and name not in beyond:
            yield f"the specification has no index {name}"


def _index(expected: IndexFact, found: PhysicalIndex) -> Iterator[str]:
    if not found.is_global:
        yield f"index {expected.name} is local, not global"
    yield from _key(f"partition key of index {expected.name}", found.partition, expected.partition)
    yield from _key(f"sort key of index {expected.name}", found.sort, expected.sort)
    if expected.projection is not None and found.projection != expected.projection:
        yield (
            f"index {expected.name} projects {found.projection or 'nothing stated'},"
            f" not {expected.projection}"
        )


def _billing(fact: TableFact, table: PhysicalTable) -> Iterator[str]:
    if fact.billing is None:
        return
    if table.billing_mode != fact.billing.mode:
        yield f"billing is {table.billing_mode}, not {fact.billing.mode}"
        return
    units = (table.read_units, table.write_units)
    expected = (fact.billing.read_units, fact.billing.write_units)
    if units != expected:
        yield (
            f"capacity is {units[0]} read and {units[1]} write units,"
            f" not {expected[0]} and {expected[1]}"
        )


def _stream(fact: TableFact, table: PhysicalTable) -> Iterator[str]:
    if fact.stream_view is not None and table.stream_view != fact.stream_view:
        yield f"the stream's view is {table.stream_view or 'absent'}, not {fact.stream_view}"


def _ttl(fact: TableFact, ttl: str | None) -> Iterator[str]:
    if fact.ttl.expires is False and ttl is not None:
        yield f"items expire by {ttl}, though they are not to expire"
    if fact.ttl.expires and ttl is None:
        yield f"items never expire, though they are to expire by {fact.ttl.attribute}"
    elif fact.ttl.expires and ttl != fact.ttl.attribute:
        yield f"items expire by {ttl}, not by {fact.ttl.attribute}"
