"""That the facts of the keyed tables are well formed, agree with themselves and are complete."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.specification.facts import (
    APPLICATIONS,
    ApplicationFacts,
    AttributeFact,
    EntityFact,
    ExampleFact,
    PatternFact,
    PlaceholderFact,
    facts_of,
)
from tests.specification.templates import fields_of, placeholders, slug

PYTHON_TYPES: dict[str | None, tuple[type, ...]] = {
    "string": (str,),
    "uuid": (str,),
    "timestamp": (str,),
    "decimal": (Decimal,),
    "number": (Decimal,),
    "integer": (Decimal,),
    "epoch_seconds": (Decimal,),
    "epoch_milliseconds": (Decimal,),
    "boolean": (bool,),
    "list": (list,),
    "set": (list,),
    "map": (dict,),
    None: (str, Decimal, bool, list, dict),
}
READS = {"GetItem", "BatchGetItem", "Query", "Scan"}
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}
ALL_FACTS = [facts_of(application) for application in APPLICATIONS]
EACH_APPLICATION = pytest.mark.parametrize("facts", ALL_FACTS, ids=APPLICATIONS)
EACH_ENTITY = pytest.mark.parametrize(
    ("facts", "entity"),
    [
        pytest.param(facts, entity, id=f"{facts.application}-{entity.name}")
        for facts in ALL_FACTS
        for entity in facts.entities
    ],
)
EACH_PATTERN = pytest.mark.parametrize(
    ("facts", "pattern"),
    [
        pytest.param(facts, pattern, id=f"{pattern.table}-{pattern.number}")
        for facts in ALL_FACTS
        for pattern in facts.patterns
    ],
)
EACH_EXAMPLE = pytest.mark.parametrize(
    ("facts", "example"),
    [
        pytest.param(facts, example, id=f"{facts.application}-{example.title}")
        for facts in ALL_FACTS
        for example in facts.examples
    ],
)


def attributes_in(attributes: tuple[AttributeFact, ...]) -> Iterator[AttributeFact]:
    for attribute in attributes:
        yield attribute
        yield from attributes_in(attribute.fields)


def key_names(facts: ApplicationFacts, table: str, index: str | None = None) -> list[str]:
    holder = facts.table(table) if index is None else facts.index(table, index)
    return [key.name for key in (holder.partition, holder.sort) if key is not None]


def attribute_names(facts: ApplicationFacts, entity: EntityFact) -> set[str]:
    return {attribute.name for attribute in entity.attributes} | {
        *key_names(facts, entity.table),
        *(key.attribute for key in entity.keys),
    }


def numbers_in(value: object) -> Iterator[object]:
    match value:
        case dict():
            for each in value.values():
                yield from numbers_in(each)
        case list():
            for each in value:
                yield from numbers_in(each)
        case str() | bool() | None:
            return
        case _:
            yield value


def misfits(attributes: tuple[AttributeFact, ...], item: dict[str, object]) -> Iterator[str]:
    known = {attribute.name: attribute for attribute in attributes}
    for name, held in item.items():
        fact = known.get(name)
        if fact is None:
            yield f"{name} is not specified"
        elif not isinstance(held, PYTHON_TYPES[fact.type]):
            yield f"{name} is no {fact.type}: {held!r}"
        elif fact.values and not fact.open and held not in fact.values:
            yield f"{name} may not be {held!r}"
        elif fact.fields:
            for member in held if isinstance(held, list) else [held]:
                assert isinstance(member, dict)
                yield from misfits(fact.fields, member)


def filled(placeholder: PlaceholderFact, item: dict[str, object]) -> object:
    value = item.get(placeholder.attribute or "")
    return slug(value) if placeholder.form == "slug" and isinstance(value, str) else value


@EACH_APPLICATION
def test_nothing_is_named_twice(facts: ApplicationFacts) -> None:
    names = [
        [table.name for table in facts.tables],
        *([index.name for index in table.indexes] for table in facts.tables),
        [entity.name for entity in facts.entities],
        *([attribute.name for attribute in entity.attributes] for entity in facts.entities),
        [example.title for example in facts.examples],
        [each.id for each in facts.contradictions],
        [f"{pattern.table} {pattern.title}" for pattern in facts.patterns],
    ]

    twice = [each for each in names if len(each) != len(set(each))]

    assert twice == []


@EACH_APPLICATION
def test_patterns_are_numbered_without_a_hole(facts: ApplicationFacts) -> None:
    for table in facts.tables:
        numbers = [pattern.number for pattern in facts.patterns_of(table.name)]

        assert numbers == list(range(1, len(numbers) + 1))
        assert numbers


@EACH_APPLICATION
def test_tables_state_possible_keys_billing_streams_and_expiry(facts: ApplicationFacts) -> None:
    keys = [
        key
        for table in facts.tables
        for key in (
            table.partition,
            table.sort,
            *(index.partition for index in table.indexes),
            *(index.sort for index in table.indexes),
        )
        if key is not None
    ]
    modes = {table.billing.mode for table in facts.tables if table.billing is not None}
    expiring = [table for table in facts.tables if table.ttl.expires]

    assert {key.type for key in keys} <= {"S", None}
    assert all(table.partition.type for table in facts.tables)
    assert modes <= {"PAY_PER_REQUEST", "PROVISIONED"}
    assert {table.stream_view for table in facts.tables} <= {None, "NEW_IMAGE"}
    assert all(table.ttl.attribute for table in expiring)


@EACH_ENTITY
def test_an_entity_states_every_key_of_its_table(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    keys = key_names(facts, entity.table)

    templates = [entity.templates(name) for name in keys]

    assert all(templates)


@EACH_ENTITY
def test_an_entity_is_in_the_indexes_whose_keys_it_holds(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    held = attribute_names(facts, entity)

    indexes = [
        index.name
        for index in facts.table(entity.table).indexes
        if held >= set(key_names(facts, entity.table, index.name))
    ]

    assert sorted(indexes) == sorted(entity.indexes)


@EACH_ENTITY
def test_an_entitys_index_keys_have_the_templates_of_the_index(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    for name in entity.indexes:
        index = facts.index(entity.table, name)
        partition = entity.templates(index.partition.name)
        sort = entity.templates(index.sort.name) if index.sort is not None else ()

        assert set(partition) <= set(index.partition_templates or partition)
        assert set(sort) <= set(index.sort_templates or sort)


@EACH_ENTITY
def test_every_placeholder_is_an_attribute_or_explained(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    held = attribute_names(facts, entity)
    used = {
        name for key in entity.keys for template in key.templates for name in placeholders(template)
    }

    sources = {entity.placeholder(name).attribute for name in used} - {None}

    assert sources <= held
    assert {each.name for each in entity.placeholders} <= used


@EACH_ENTITY
def test_an_entity_uses_the_known_types_and_expires_by_its_own_attribute(
    facts: ApplicationFacts, entity: EntityFact
) -> None:
    ttl = facts.table(entity.table).ttl
    expiry = {each.name: each.type for each in entity.attributes}.get(ttl.attribute or "")
    origins = {each.origin for each in attributes_in(entity.attributes)}

    assert {each.type for each in attributes_in(entity.attributes)} <= PYTHON_TYPES.keys()
    assert origins <= {"stated", "resolved"}
    assert entity.origin in {"stated", "implied"}
    assert (expiry == "epoch_seconds") is bool(ttl.expires)


@EACH_PATTERN
def test_a_pattern_asks_by_the_key_of_its_table_or_index(
    facts: ApplicationFacts, pattern: PatternFact
) -> None:
    keys = key_names(facts, pattern.table, pattern.index)
    asked = [term.attribute for term in pattern.key]
    whole = {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchGetItem"}
    full = whole.intersection(pattern.operations)

    assert asked == keys[: len(asked)]
    assert {term.operator for term in pattern.key[:1]} <= {"="}
    assert {term.operator for term in pattern.key[1:]} <= {"=", ">=", "between", "begins_with"}
    assert bool(asked) is ("Scan" not in pattern.operations)
    assert not full or asked == keys


@EACH_PATTERN
def test_a_pattern_states_only_what_its_operations_can_do(
    facts: ApplicationFacts, pattern: PatternFact
) -> None:
    operations = set(pattern.operations)
    entities = [entity for entity in facts.entities if entity.table == pattern.table]
    held = set().union(*(attribute_names(facts, entity) for entity in entities))
    touched = {each.attribute for each in pattern.sets} | set(pattern.removes)

    assert operations <= READS | WRITES
    assert pattern.condition is None or operations <= {"PutItem", "UpdateItem", "DeleteItem"}
    assert pattern.filter is None or operations <= {"Query", "Scan"}
    assert pattern.limit is None or operations == {"Query"}
    assert pattern.index is None or operations == {"Query"}
    assert pattern.returns in {None, "ALL_OLD"}
    assert pattern.order in {None, "descending"}
    assert pattern.caller in {None, "user", "system", "both"}
    assert pattern.batch in {None, 25, 100}
    assert touched <= held
    assert pattern.entity is None or pattern.entity in {entity.name for entity in entities}


@EACH_PATTERN
def test_a_patterns_operands_are_values_of_the_entitys_keys(
    facts: ApplicationFacts, pattern: PatternFact
) -> None:
    entities = [entity for entity in facts.entities if entity.name == pattern.entity]
    misses = [
        (term, entity.name)
        for entity in entities
        for term in pattern.key
        if term.operator == "="
        and (templates := entity.templates(term.attribute))
        and not any(fields_of(each, term.operands[0]) is not None for each in templates)
    ]

    assert misses == []


@EACH_EXAMPLE
def test_an_examples_keys_are_made_by_its_entitys_templates(
    facts: ApplicationFacts, example: ExampleFact
) -> None:
    entity = facts.entity(example.entity)
    item = facts.whole(example)
    made = {
        key.attribute: [
            found
            for each in key.templates
            if (found := fields_of(each, str(item[key.attribute]))) is not None
        ]
        for key in entity.keys
        if key.attribute in item
    }
    fields = [pair for ways in made.values() for pair in ways[0].items()]
    expected = [(name, filled(entity.placeholder(name), item) or value) for name, value in fields]

    assert made.keys() >= set(key_names(facts, entity.table))
    assert {len(ways) for ways in made.values()} == {1}
    assert fields == expected


@EACH_EXAMPLE
def test_an_example_holds_specified_attributes_of_their_types(
    facts: ApplicationFacts, example: ExampleFact
) -> None:
    entity = facts.entity(example.entity)
    keys = {key.attribute for key in entity.keys}
    known = {attribute.name for attribute in entity.attributes}
    plain = {name: value for name, value in example.item.items() if name in known}

    assert example.item.keys() <= known | keys
    assert list(misfits(entity.attributes, plain)) == []


@EACH_EXAMPLE
def test_an_examples_numbers_are_exact(facts: ApplicationFacts, example: ExampleFact) -> None:
    item = facts.whole(example)

    kinds = {type(number) for number in numbers_in(item)}

    assert kinds <= {Decimal}


@EACH_APPLICATION
def test_a_sample_shows_every_field_of_its_attribute(facts: ApplicationFacts) -> None:
    for shape in facts.shapes:
        entity = facts.entity(shape.entity)
        (attribute,) = (each for each in entity.attributes if each.name == shape.attribute)
        names = {field.name for field in attribute.fields}

        assert names
        assert set(shape.sample or names) == names
        assert list(misfits(attribute.fields, shape.sample or {})) == []


@EACH_APPLICATION
def test_a_contradiction_is_about_something_and_keeps_something(facts: ApplicationFacts) -> None:
    names = {entity.name for entity in facts.entities}
    names |= {table.name for table in facts.tables}
    names |= {index.name for table in facts.tables for index in table.indexes}
    names |= {removed.name for removed in facts.removed_tables}
    least = {"conflict": 2, "impossible": 2, "open": 1}

    for each in facts.contradictions:
        assert set(each.about) <= names
        assert len(each.sides) >= least[each.kind]
        assert all((each.about, each.kept, *(side.says for side in each.sides)))


@EACH_APPLICATION
def test_what_is_implied_or_resolved_has_its_contradiction(facts: ApplicationFacts) -> None:
    explained = {name for each in facts.contradictions for name in each.about}
    added = {entity.name for entity in facts.entities if entity.origin == "implied"}
    added |= {
        index.name for table in facts.tables for index in table.indexes if index.origin == "implied"
    }
    resolved = [
        {entity.name, entity.table}
        for entity in facts.entities
        if any(each.origin == "resolved" for each in entity.attributes)
    ]

    assert added <= explained
    assert all(names & explained for names in resolved)
