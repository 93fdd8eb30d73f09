"""That the comparison of physical tables with the facts finds each kind of departure."""

from dataclasses import replace

import pytest

from tests.specification.compare import application_departures, departures
from tests.specification.create_table import DescriptionMalformed
from tests.specification.facts import APPLICATIONS, ApplicationFacts, TableFact, facts_of

FULL = TableFact(
    name="things-{environment}",
    purpose="a table with everything",
    partition=facts_of("trainer").table("Profiles").partition,
    sort=facts_of("trainer").table("Profiles").sort,
    ttl=facts_of("keiba").table("keiba_data").ttl,
    indexes=facts_of("trainer").table("Attempts").indexes,
    stream=facts_of("trainer").table("Attempts").stream,
    billing=facts_of("trainer").table("Scenarios").billing,
)


def described(fact: TableFact, name: str | None = None) -> dict[str, object]:
    keys = [fact.partition, fact.sort]
    keys += [key for index in fact.indexes for key in (index.partition, index.sort)]
    billing = fact.billing
    return {
        "TableName": name or fact.name.replace("{environment}", "test"),
        "KeySchema": key_schema(fact.partition.name, fact.sort.name if fact.sort else None),
        "AttributeDefinitions": [
            {"AttributeName": key_name, "AttributeType": kind}
            for key_name, kind in {key.name: key.type or "S" for key in keys if key}.items()
        ],
        "GlobalSecondaryIndexes": described_indexes(fact),
        "BillingMode": billing.mode if billing else "PAY_PER_REQUEST",
        "ProvisionedThroughput": {
            "ReadCapacityUnits": billing.read_units if billing else None,
            "WriteCapacityUnits": billing.write_units if billing else None,
        },
        "StreamSpecification": {
            "StreamEnabled": fact.stream is not None,
            "StreamViewType": fact.stream_view,
        },
    }


def described_indexes(fact: TableFact) -> list[dict[str, object]]:
    return [
        {
            "IndexName": index.name,
            "KeySchema": key_schema(index.partition.name, index.sort.name if index.sort else None),
            "Projection": {"ProjectionType": index.projection or "ALL"},
        }
        for index in fact.indexes
    ]


def key_schema(partition: str, sort: str | None) -> list[dict[str, str]]:
    rows = [(partition, "HASH"), (sort, "RANGE")]
    return [{"AttributeName": name, "KeyType": role} for name, role in rows if name is not None]


def all_described(facts: ApplicationFacts) -> tuple[list[dict[str, object]], dict[str, str]]:
    tables = [described(fact) for fact in facts.tables]
    ttls = {
        str(table["TableName"]): fact.ttl.attribute
        for fact, table in zip(facts.tables, tables, strict=True)
        if fact.ttl.attribute is not None
    }
    return tables, ttls


@pytest.mark.parametrize("application", APPLICATIONS)
def test_tables_made_from_the_facts_do_not_depart_from_them(application: str) -> None:
    facts = facts_of(application)
    tables, ttls = all_described(facts)

    found = application_departures(facts, tables, ttls=ttls)

    assert found == []


@pytest.mark.parametrize("application", APPLICATIONS)
def test_every_absent_table_is_missed(application: str) -> None:
    facts = facts_of(application)

    found = application_departures(facts, [])

    assert found == [f"{table.name}: the table is missing" for table in facts.tables]


def test_a_missing_table_is_one_sentence() -> None:
    found = departures(FULL, None)

    assert found == ["things-{environment}: the table is missing"]


def test_a_table_that_agrees_gives_no_sentence() -> None:
    found = departures(FULL, described(FULL), ttl="ttl")

    assert found == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"TableName": "other"}, "the table is named other, not things-{environment}"),
        ({"KeySchema": key_schema("userId", None)}, "the sort key is absent, not timestamp"),
        (
            {"KeySchema": key_schema("timestamp", "userId")},
            "the partition key is timestamp, not userId",
        ),
        ({"GlobalSecondaryIndexes": []}, "index UserAttempts is missing"),
        ({"BillingMode": "PAY_PER_REQUEST"}, "billing is PAY_PER_REQUEST, not PROVISIONED"),
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}},
            "capacity is 1 read and 1 write units, not 5 and 1",
        ),
        ({"StreamSpecification": {}}, "the stream's view is absent, not NEW_IMAGE"),
        (
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}},
            "the stream's view is KEYS_ONLY, not NEW_IMAGE",
        ),
        (
            {"AttributeDefinitions": [{"AttributeName": "userId", "AttributeType": "S"}]},
            "key attribute timestamp has no AttributeDefinition",
        ),
    ],
)
def test_a_changed_table_is_told_from_its_fact(change: dict[str, object], sentence: str) -> None:
    table = {**described(FULL), **change}

    found = departures(FULL, table, ttl="ttl")

    assert f"things-{{environment}}: {sentence}" in found


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        ("N", ["the partition key userId has type N, not S"]),
        (
            "BOOL",
            [
                "the partition key userId has type BOOL, not S",
                "attribute userId is defined as BOOL, but keys are S, N or B",
            ],
        ),
    ],
)
def test_a_key_of_another_type_is_found(kind: str, sentences: list[str]) -> None:
    fact = replace(FULL, indexes=())
    table = described(fact)
    table["AttributeDefinitions"] = [
        {"AttributeName": "userId", "AttributeType": kind},
        {"AttributeName": "timestamp", "AttributeType": "S"},
    ]

    found = departures(fact, table, ttl="ttl")

    assert found == [f"things-{{environment}}: {sentence}" for sentence in sentences]


def test_a_sort_key_that_is_not_specified_is_found() -> None:
    fact = facts_of("cricket").table("cricket-locks")
    table = described(fact)
    table["KeySchema"] = key_schema("lockKey", "owner")
    table["AttributeDefinitions"] = [
        {"AttributeName": name, "AttributeType": "S"} for name in ("lockKey", "owner")
    ]

    found = departures(fact, table)

    assert found == ["cricket-locks: the sort key is owner, not absent"]


def test_an_attribute_defined_for_no_key_is_found() -> None:
    table = described(replace(FULL, indexes=()))
    table["AttributeDefinitions"] = [
        {"AttributeName": name, "AttributeType": "S"} for name in ("userId", "timestamp", "score")
    ]

    found = departures(replace(FULL, indexes=()), table, ttl="ttl")

    assert found == ["things-{environment}: attribute score is defined but is no key"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"KeySchema": key_schema("timestamp", "userId")},
            "the partition key of index UserAttempts is timestamp, not userId",
        ),
        (
            {"KeySchema": key_schema("userId", None)},
            "the sort key of index UserAttempts is absent, not timestamp",
        ),
        (
            {"Projection": {"ProjectionType": "KEYS_ONLY"}},
            "index UserAttempts projects KEYS_ONLY, not ALL",
        ),
        ({"Projection": {}}, "index UserAttempts projects nothing stated, not ALL"),
        ({"IndexName": "GSI1"}, "index UserAttempts is missing"),
        ({"IndexName": "GSI1"}, "the specification has no index GSI1"),
    ],
)
def test_a_changed_index_is_told_from_its_fact(change: dict[str, object], sentence: str) -> None:
    index = {
        "IndexName": "UserAttempts",
        "KeySchema": key_schema("userId", "timestamp"),
        "Projection": {"ProjectionType": "ALL"},
    }
    table = {**described(FULL), "GlobalSecondaryIndexes": [{**index, **change}]}

    found = departures(FULL, table, ttl="ttl")

    assert f"things-{{environment}}: {sentence}" in found


def test_a_local_index_does_not_stand_for_a_global_one() -> None:
    table = described(FULL)
    table["LocalSecondaryIndexes"] = table.pop("GlobalSecondaryIndexes")

    found = departures(FULL, table, ttl="ttl")

    assert found == ["things-{environment}: index UserAttempts is local, not global"]


def test_an_index_beyond_the_specification_is_found_unless_it_is_named() -> None:
    table = described(FULL)
    fact = replace(FULL, indexes=())

    found = departures(fact, table, ttl="ttl")
    named = departures(fact, table, ttl="ttl", beyond=("UserAttempts",))

    assert found == ["things-{environment}: the specification has no index UserAttempts"]
    assert named == []


@pytest.mark.parametrize(
    ("table", "ttl", "sentence"),
    [
        ("live-activities", None, "items never expire, though they are to expire by ttl"),
        ("cricket-match-follows", "ttl", "items expire by ttl, not by expiresAt"),
        ("cricket-locks", "expiresAt", "items expire by expiresAt, though they are not to expire"),
    ],
)
def test_another_expiry_is_found(table: str, ttl: str | None, sentence: str) -> None:
    fact = facts_of("cricket").table(table)

    found = departures(fact, described(fact), ttl=ttl)

    assert found == [f"{table}: {sentence}"]


def test_what_a_specification_leaves_open_is_not_compared() -> None:
    fact = facts_of("bets").table("carpool-bets-v2-{environment}")
    table = described(fact)
    table["BillingMode"] = "PROVISIONED"
    table["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}

    found = departures(fact, table, ttl="anything")

    assert found == []


def test_an_open_key_type_may_be_any() -> None:
    fact = facts_of("cricket").table("cricket-fixtures")
    table = described(fact)
    table["AttributeDefinitions"] = [
        {"AttributeName": "matchId", "AttributeType": "S"},
        {"AttributeName": "leagueCode", "AttributeType": "S"},
        {"AttributeName": "startTime", "AttributeType": "N"},
    ]

    found = departures(fact, table)

    assert found == []


def test_capacity_without_a_billing_mode_is_provisioned() -> None:
    table = described(FULL)
    del table["BillingMode"]

    found = departures(FULL, table, ttl="ttl")

    assert found == []


def test_a_prefix_goes_before_every_name() -> None:
    table = described(FULL, name="mine-things-prod")

    with_prefix = departures(FULL, table, ttl="ttl", prefix="mine-")
    without = departures(FULL, table, ttl="ttl")

    assert with_prefix == []
    assert without == [
        "things-{environment}: the table is named mine-things-prod, not things-{environment}"
    ]


@pytest.mark.parametrize("name", ["cricket-state-hashes", "state-hashes"])
def test_a_removed_table_is_found_under_both_its_names(name: str) -> None:
    facts = facts_of("cricket")
    tables, ttls = all_described(facts)
    ghost = described(facts.table("cricket-teams"), name=name)

    found = application_departures(facts, [*tables, ghost], ttls=ttls, beyond_tables=(name,))

    assert found == [f"{name}: the specification removed this table"]


def test_a_removed_index_is_found_even_when_it_is_named_as_beyond() -> None:
    facts = facts_of("cricket")
    tables, ttls = all_described(facts)
    live_index = {"IndexName": "live-index", "KeySchema": key_schema("leagueCode", None)}
    fixtures = {
        **described(facts.table("cricket-fixtures")),
        "GlobalSecondaryIndexes": [
            *described_indexes(facts.table("cricket-fixtures")),
            live_index,
        ],
    }

    found = application_departures(
        facts, [fixtures, *tables[1:]], ttls=ttls, beyond_indexes=("live-index",)
    )

    assert found == ["cricket-fixtures: the specification removed index live-index"]


def test_a_table_beyond_the_specification_is_found_unless_it_is_named() -> None:
    facts = facts_of("trainer")
    tables, _ = all_described(facts)
    totals = described(facts.table("Profiles"), name="Totals")

    found = application_departures(facts, [*tables, totals])
    named = application_departures(facts, [*tables, totals], beyond_tables=("Totals",))

    assert found == ["Totals: the specification has no such table"]
    assert named == []


@pytest.mark.parametrize(
    "change",
    [
        {"TableName": None},
        {"KeySchema": []},
        {"KeySchema": "userId"},
        {"KeySchema": [{"AttributeName": "userId", "KeyType": "PRIMARY"}]},
        {"AttributeDefinitions": [{"AttributeName": "userId"}]},
        {"GlobalSecondaryIndexes": [1]},
        {"StreamSpecification": "NEW_IMAGE"},
        {"ProvisionedThroughput": {"ReadCapacityUnits": "5"}},
    ],
)
def test_what_is_no_description_of_a_table_is_refused(change: dict[str, object]) -> None:
    table = {**described(FULL), **change}

    with pytest.raises(DescriptionMalformed):
        departures(FULL, table, ttl="ttl")
