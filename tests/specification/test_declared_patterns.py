"""That each specified access pattern is declared, and asks and writes what is specified."""

import inspect
import re
from collections.abc import Mapping
from typing import Any, cast

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import (
    Delete,
    Get,
    GetMany,
    Naming,
    Put,
    Query,
    Scan,
    Update,
    WriteMany,
)
from grandstand.storage.tables.attribute_values import Value
from grandstand.storage.tables.declaration.patterns import (
    Pattern,
    PrettyRenderer,
    condition_text,
    patterns,
    where_text,
)
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.store import Session
from tests.specification import declarations
from tests.specification.facts import APPLICATIONS, PatternFact, facts_of
from tests.specification.templates import fields_of

Term = tuple[str, str, tuple[str, ...]]

# Requests are only looked at, never sent, so the session needs names and a clock but no engine.
SESSION = Session(cast("Engine", None), Naming(environment="test"), ManualClock())
ALL_TABLES = {table.name: table for each in declarations.TABLES.values() for table in each}
FACTS = [pattern for each in APPLICATIONS for pattern in facts_of(each).patterns]
EACH_PATTERN = pytest.mark.parametrize(
    "fact", FACTS, ids=[f"{fact.table}-{fact.number}" for fact in FACTS]
)


def answering(fact: PatternFact) -> list[Pattern]:
    """The declared patterns that carry a specified one out, in its order."""
    named = {f"{each.entity}.{each.name}": each for each in patterns(ALL_TABLES[fact.table])}
    return [named[name] for name in declarations.PATTERNS[fact.table][fact.number - 1]]


def place(fact: PatternFact) -> tuple[str, int]:
    return fact.table, fact.number


def decided(
    listed: Mapping[tuple[str, int], declarations.Decided], fact: PatternFact
) -> frozenset[str]:
    return listed[place(fact)].what if place(fact) in listed else frozenset()


def asked(example: object) -> list[Term]:
    """What an operation asks of keys, as terms."""
    match example:
        case Query():
            return asked_by_query(example.key_condition)
        case GetMany():
            return equalities(example.gets[0].key)
        case WriteMany():
            return asked(example.writes[0])
        case Put():
            item = example.entity.encode(example.record)
            return equalities({name: item[name] for name in example.entity.table.key_names})
        case Get() | Update() | Delete():
            return equalities(example.key)
    return []


def asked_by_query(where: nodes.KeyCondition) -> list[Term]:
    terms = equalities(dict(where.equals))
    if where.range is None:
        return terms
    limits = (where.range.low, where.range.high)
    operands = tuple(str(limit) for limit in limits if limit is not None)
    return [*terms, (where.range.attribute, where.range.op, operands)]


def equalities(key: Mapping[str, Value]) -> list[Term]:
    return [(name, "=", (str(value),)) for name, value in key.items()]


def answers(fact: PatternFact, terms: list[Term]) -> bool:
    """Return whether the terms are the fact's own: attributes and operators, operands by template.

    A pattern of several calls gives fewer terms in its query and more where it names single items.
    """
    wanted = [(term.attribute, term.operator, len(term.operands)) for term in fact.key]
    given = [(attribute, operator, len(operands)) for attribute, operator, operands in terms]
    pairs = [
        (template, operand)
        for term, (_, _, operands) in zip(fact.key, terms, strict=False)
        for template, operand in zip(term.operands, operands, strict=False)
    ]
    shared = min(len(given), len(wanted))
    return given[:shared] == wanted[:shared] and all(
        fields_of(template, operand) is not None for template, operand in pairs
    )


class Blank(PrettyRenderer):
    """Writes a condition with a colon for every value."""

    def _value(self, value: Value) -> str:  # noqa: ARG002 - no value is shown
        return ":"


def blanked(text: str) -> str:
    return re.sub(r":\w+|\btrue\b", ":", text)


def demands(example: object) -> set[str]:
    """What a write demands of the item there, one text for each thing demanded."""
    if not isinstance(example, Put | Update | Delete):
        return set()
    condition = example.request(SESSION).condition
    return set() if condition is None else {Blank().condition(each) for each in parts(condition)}


def parts(condition: nodes.Condition) -> list[nodes.Condition]:
    if isinstance(condition, nodes.And):
        return [*parts(condition.left), *parts(condition.right)]
    return [condition]


def always_demanded(example: object) -> set[str]:
    """An update that does not make its item demands that it exists."""
    if isinstance(example, Update) and not example.creates:
        return {f"attribute_exists({example.entity.table.partition})"}
    return set()


def stated_limit(pattern: Pattern) -> object:
    """How many items are asked for where the caller does not say."""
    entity = next(
        each for each in ALL_TABLES[pattern.table].entities if each.__name__ == pattern.entity
    )
    chosen = inspect.signature(getattr(entity, pattern.name)).parameters.get("n")
    return cast("Query[Any]", pattern.example).max_items if chosen is None else chosen.default


def written(example: object) -> dict[str, object]:
    """The attributes a write sets, with fixed values as they are."""
    match example:
        case Put():
            return dict(example.request(SESSION).item)
        case Update():
            sets = example.request(SESSION).update.sets
            return {path.root: getattr(value, "value", value) for path, value in sets}
    return {}


@pytest.mark.parametrize("table", sorted({fact.table for fact in FACTS}))
def test_every_specified_pattern_is_declared(table: str) -> None:
    specified = [fact for fact in FACTS if fact.table == table]

    found = [len(answering(fact)) for fact in specified]

    assert len(declarations.PATTERNS[table]) == len(specified)
    assert all(found)


@EACH_PATTERN
def test_a_pattern_makes_the_specified_calls(fact: PatternFact) -> None:
    found = answering(fact)

    assert tuple(each.operation for each in found) == fact.operations
    assert {each.index for each in found} == {fact.index}
    assert all(each.title and each.title != each.name.replace("_", " ") for each in found)


@EACH_PATTERN
def test_a_pattern_asks_by_the_specified_key(fact: PatternFact) -> None:
    found = [asked(each.example) for each in answering(fact)]
    others = decided(declarations.OTHER_KEYS, fact)
    queries = [each.example for each in answering(fact) if isinstance(each.example, Query)]
    shown = [where_text(query.key_condition) for query in queries]

    assert [answers(fact, terms) for terms in found] == [not others for _ in found]
    assert len(fact.key) in {len(terms) for terms in found}
    assert all(each in text for each in others for text in shown)


@EACH_PATTERN
def test_a_pattern_has_the_specified_order_and_limit(fact: PatternFact) -> None:
    found = [each for each in answering(fact) if isinstance(each.example, Query)]
    order = "descending" if decided(declarations.NEWEST_FIRST, fact) else fact.order or ""

    assert [(each.order, stated_limit(each)) for each in found] == [
        (order, fact.limit) for _ in found
    ]


@EACH_PATTERN
def test_a_pattern_has_the_specified_filter(fact: PatternFact) -> None:
    readings = [each.example for each in answering(fact)]
    filters = [each.filter for each in readings if isinstance(each, Query | Scan)]
    shown = {Blank().condition(each) for each in filters if each is not None}
    left_out = {blanked(each) for each in decided(declarations.WITHOUT_FILTER, fact)}
    specified = set() if fact.filter is None else {blanked(fact.filter)}

    assert shown == specified - left_out


@EACH_PATTERN
def test_a_write_demands_what_is_specified_and_only_decided_things_beside(
    fact: PatternFact,
) -> None:
    found = [each.example for each in answering(fact)]
    demanded = set().union(*(demands(each) for each in found))
    always = set().union(*(always_demanded(each) for each in found))
    specified = set() if fact.condition is None else {blanked(fact.condition)}

    assert demanded == specified | always | decided(declarations.ADDED_CONDITIONS, fact)


@EACH_PATTERN
def test_a_write_sets_and_removes_what_is_specified(fact: PatternFact) -> None:
    found = [each.example for each in answering(fact)]
    sets = {name: value for each in found for name, value in written(each).items()}
    updates = [each.request(SESSION).update for each in found if isinstance(each, Update)]
    removed = {path.root for update in updates for path in update.removes}
    once = {name for name, value in sets.items() if isinstance(value, nodes.IfMissing)}
    fixed = {each.attribute: each.value for each in fact.sets if each.value is not None}

    assert {each.attribute for each in fact.sets} <= sets.keys()
    assert fixed.items() <= sets.items()
    assert once == {each.attribute for each in fact.sets if each.absent_only}
    assert set(fact.removes) <= removed


@EACH_PATTERN
def test_a_delete_answers_what_was_there_where_specified(fact: PatternFact) -> None:
    deletes = [each.example for each in answering(fact) if isinstance(each.example, Delete)]
    returned = {each.request(SESSION).returning for each in deletes}

    assert fact.returns is None or returned == {fact.returns}


def test_a_text_of_a_condition_shows_its_values() -> None:
    (acquire,) = answering(next(fact for fact in FACTS if fact.title == "Register active match"))
    condition = cast("Put[Any]", acquire.example).condition

    assert condition is not None
    assert condition_text(condition) == "attribute_not_exists(matchId) OR status = idle"
