"""That the applications declare the tables, keys, attributes and patterns that are specified."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from grandstand.storage.tables import Entity, Naming
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.declaration.compiled import SCHEMA_VERSION, EntityPlan
from grandstand.storage.tables.schema import create_table_shape
from tests.specification import declarations
from tests.specification.compare import application_departures
from tests.specification.facts import (
    APPLICATIONS,
    ApplicationFacts,
    AttributeFact,
    EntityFact,
    ExampleFact,
    facts_of,
)
from tests.specification.templates import fields_of, slug

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
NAMING = Naming(environment="test")
STORED_AS: dict[str | None, tuple[type, ...]] = {
    "string": (str,),
    "uuid": (str,),
    "timestamp": (str,),
    "decimal": (Decimal, int),
    "number": (Decimal, int),
    "integer": (int,),
    "epoch_seconds": (int,),
    "epoch_milliseconds": (int,),
    "boolean": (bool,),
    "list": (list,),
    "set": (frozenset,),
    "map": (dict,),
    None: (str, int, Decimal, list),
}
EACH_ENTITY = pytest.mark.parametrize(
    ("facts", "entity"),
    [
        pytest.param(facts_of(application), entity, id=f"{application}-{entity.name}")
        for application in APPLICATIONS
        for entity in facts_of(application).entities
    ],
)
EACH_EXAMPLE = pytest.mark.parametrize(
    ("facts", "example"),
    [
        pytest.param(facts_of(application), example, id=f"{application}-{example.title}")
        for application in APPLICATIONS
        for example in facts_of(application).examples
    ],
)


def records_of(facts: ApplicationFacts, entity: str) -> tuple[Entity, ...]:
    return declarations.RECORDS[facts.application][entity]


def items_of(facts: ApplicationFacts, entity: EntityFact) -> list[dict[str, object]]:
    records = records_of(facts, entity.name)
    return [dict(record.__plan__.encode(record)) for record in records]


def attributes_of(plan: EntityPlan[Entity]) -> set[str]:
    made = {side.attribute for each in (plan.primary, *plan.indexes) for side in each.parts}
    held = {field.attribute for field in plan.fields.values()}
    return made | held | ({SCHEMA_VERSION} if plan.schema_version else set())


def what(listed: Mapping[str, declarations.Decided], name: str) -> frozenset[str]:
    return listed[name].what if name in listed else frozenset()


def misfits(attributes: tuple[AttributeFact, ...], item: dict[str, object]) -> Iterator[str]:
    for fact in attributes:
        held = item.get(fact.name)
        if held is None:
            continue
        fits = isinstance(held, STORED_AS[fact.type]) and (
            fact.type in ("boolean", None) or not isinstance(held, bool)
        )
        if not fits:
            yield f"{fact.name} is no {fact.type}: {held!r}"
        members = held if isinstance(held, list) else [held]
        known = {field.name for field in fact.fields}
        for member in members if fact.fields else ():
            assert isinstance(member, dict)
            if known != member.keys():
                yield f"{fact.name} has {sorted(member)}, not {sorted(known)}"
            yield from misfits(fact.fields, member)


def made_of(entity: EntityFact, template: str, item: dict[str, object], key: str) -> bool:
    """Return whether the template fits and each of its parts is the attribute it stands for."""
    found = fields_of(template, str(item[key]))
    if found is None:
        return False
    sources = {name: entity.placeholder(name) for name in found}
    expected = {
        name: slug(str(item[source.attribute]))
        if source.form == "slug"
        else str(item[source.attribute])
        for name, source in sources.items()
        if source.attribute is not None
    }
    return expected.items() <= found.items()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_declared_tables_depart_from_the_specified_ones_only_where_decided(
    application: str,
) -> None:
    tables = [table.schema(NAMING) for table in declarations.TABLES[application]]
    shapes = [create_table_shape(table) for table in tables]
    ttls = {table.name: table.ttl for table in tables if table.ttl is not None}

    found = application_departures(
        facts_of(application),
        shapes,
        ttls=ttls,
        beyond_tables=declarations.BEYOND_TABLES[application],
    )

    assert set(found) == what(declarations.DEPARTURES, application)


@pytest.mark.parametrize("application", APPLICATIONS)
def test_every_specified_entity_has_records_of_its_table(application: str) -> None:
    facts = facts_of(application)
    tables = {
        entity.name: {
            record.__plan__.table.name for record in declarations.RECORDS[application][entity.name]
        }
        for entity in facts.entities
    }

    assert declarations.RECORDS[application].keys() == tables.keys()
    assert tables == {entity.name: {entity.table} for entity in facts.entities}


@EACH_ENTITY
def test_an_entity_has_the_specified_attributes_and_only_decided_ones_beside(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    specified = {each.name for each in entity.attributes} | {each.attribute for each in entity.keys}
    plans = {record.__plan__ for record in records_of(facts, entity.name)}
    held = set().union(*(attributes_of(plan) for plan in plans))

    assert held - specified == what(declarations.ADDED_ATTRIBUTES, entity.name)
    assert specified - held == what(declarations.DROPPED_ATTRIBUTES, entity.name)


@EACH_ENTITY
def test_an_entity_stores_each_attribute_in_its_specified_type(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    items = items_of(facts, entity)
    shown = set[str]().union(*items)
    dropped = what(declarations.DROPPED_ATTRIBUTES, entity.name)
    # What a prop has beside its game is stated with games and shown by the entity of props.
    expected = {each.name for each in entity.attributes if each.applies != "prop"} - dropped

    assert [sentence for item in items for sentence in misfits(entity.attributes, item)] == []
    assert expected - shown == set()


@EACH_ENTITY
def test_an_entitys_keys_are_made_by_every_specified_template(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    items = items_of(facts, entity)
    dropped = what(declarations.DROPPED_ATTRIBUTES, entity.name)
    keys = [key for key in entity.keys if key.attribute not in dropped]

    ways = {
        key.attribute: [
            [each for each in key.templates if made_of(entity, each, item, key.attribute)]
            for item in items
            if key.attribute in item
        ]
        for key in keys
    }

    assert all(len(fitting) == 1 for each in ways.values() for fitting in each)
    assert {key.attribute: set(key.templates) for key in keys} == {
        name: set().union(*each) for name, each in ways.items()
    }


@EACH_EXAMPLE
def test_an_example_comes_back_as_it_was(facts: ApplicationFacts, example: ExampleFact) -> None:
    entity = facts.entity(example.entity)
    sets = {each.name for each in entity.attributes if each.type == "set"}
    item = {
        name: frozenset(value) if name in sets and isinstance(value, list) else value
        for name, value in facts.whole(example).items()
    }
    plan = records_of(facts, example.entity)[0].__plan__

    stored = dict(plan.encode(plan.decode(cast("Item", item))))

    assert {name: stored.get(name) for name in item} == item
    assert stored.keys() - item.keys() == what(declarations.ADDED_TO_EXAMPLES, example.title)


def test_every_decided_difference_has_its_record() -> None:
    kept = {int(path.name[:4]) for path in DECISIONS.glob("[0-9]*.md")}

    assert {each.record for each in declarations.ALL_DECIDED} <= kept
