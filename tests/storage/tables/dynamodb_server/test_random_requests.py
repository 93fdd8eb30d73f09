"""Whatever a client sends, it is answered, and never by a fault of ours."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.dynamodb_server.server import OPERATIONS, DynamoDbServer
from grandstand.storage.tables.dynamodb_server.validation import (
    AttributeValueRule,
    Boolean,
    Integer,
    ListOf,
    MapOf,
    Rule,
    StructRule,
    Text,
)
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.dynamodb_server.sdk_client import SIGNED, ApiCaller, index

WORDS = st.sampled_from(
    [
        *("things", "p", "s", "g", "l", "byg", "byl", "", "é", "#a", ":v", "a = :v", "p = :v"),
        *("SET a = :v", "REMOVE a", "ADD a :v", "attribute_exists(a)", "size(a) > :v", "a.b[0]"),
        *("arn:aws:dynamodb:local:000000000000:table/things", "1", "-1e400", "x" * 300),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-1, 10**12) | st.floats(-2, 2) | WORDS
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2)
)
VALUES = st.recursive(
    st.one_of(
        st.fixed_dictionaries({"S": WORDS}),
        st.fixed_dictionaries({"N": st.sampled_from(["1", "2.50", "1e126", "x", ""])}),
        st.fixed_dictionaries({"B": st.sampled_from(["", "YQ==", "a"])}),
        st.fixed_dictionaries({"BOOL": st.booleans()}),
        st.fixed_dictionaries({"NULL": st.booleans()}),
        st.fixed_dictionaries({"SS": st.lists(WORDS, max_size=2)}),
        st.fixed_dictionaries({"NS": st.lists(st.sampled_from(["1", "1.0", "x"]), max_size=2)}),
        JUNK,
    ),
    lambda inner: (
        st.fixed_dictionaries({"L": st.lists(inner, max_size=2)})
        | st.fixed_dictionaries({"M": st.dictionaries(WORDS, inner, max_size=2)})
    ),
    max_leaves=4,
)


def anything(kind: Rule) -> st.SearchStrategy[Any]:
    """Values that look like what a member should be, and some that do not."""
    match kind:
        case Text():
            return st.sampled_from(kind.options) | WORDS if kind.options else WORDS
        case Integer():
            return st.integers(-1, 3) | SCALARS
        case Boolean():
            return st.booleans() | SCALARS
        case AttributeValueRule():
            return VALUES
        case ListOf():
            return st.lists(anything(kind.element_rule), max_size=3) | JUNK
        case MapOf():
            return st.dictionaries(WORDS, anything(kind.element_rule), max_size=3) | JUNK
        case StructRule():
            members = {name: anything(member.rule) for name, member in kind.members.items()}
            wanted = {name for name, member in kind.members.items() if member.required}
            return st.fixed_dictionaries(
                {name: values for name, values in members.items() if name in wanted},
                optional={name: values for name, values in members.items() if name not in wanted},
            )
    return JUNK


REQUESTS = st.sampled_from(sorted(OPERATIONS)).flatmap(
    lambda name: st.tuples(st.just(name), anything(OPERATIONS[name].shape))
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(requests=st.lists(REQUESTS, min_size=1, max_size=5))
def test_every_request_is_carried_out_or_refused_for_its_own_fault(
    requests: list[tuple[str, dict[str, Any]]],
) -> None:
    clock = ManualClock()
    with closing(SqliteEngine.open(None, clock=clock, metered=True)) as engine:
        server = DynamoDbServer(engine, clock=clock)
        ApiCaller(server).table(
            "things",
            sort="s",
            GlobalSecondaryIndexes=[index("byg", "g")],
            LocalSecondaryIndexes=[index("byl", "p", "l")],
        )

        replies = [
            server.handle({**SIGNED, "X-Amz-Target": name}, msgspec.json.encode(parameters))
            for name, parameters in requests
        ]

    assert {reply.status for reply in replies} <= {200, 400}, replies
