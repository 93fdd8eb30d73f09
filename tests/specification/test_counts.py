"""That the facts hold as much as each specification states, and that its figures add up."""

from collections import Counter
from decimal import Decimal

import pytest

from tests.specification.facts import facts_of

BETS = "carpool-bets-v2-{environment}"
CRICKET_PATTERNS = {
    "cricket-fixtures": 6,
    "live-activities": 6,
    "active-matches": 7,
    "cricket-teams": 4,
    "cricket-team-seasons": 2,
    "cricket-leagues": 6,
    "cricket-devices": 4,
    "cricket-match-follows": 6,
    "cricket-locks": 3,
    "DisplayStateCache": 2,
    "cricket-fixture-cache": 6,
}


def test_bets_has_one_table_with_six_listed_and_three_implied_indexes() -> None:
    facts = facts_of("bets")

    origins = Counter(index.origin for index in facts.table(BETS).indexes)

    assert [table.name for table in facts.tables] == [BETS]
    assert origins == {"listed": 6, "implied": 3}


def test_bets_has_its_entities_patterns_and_examples() -> None:
    facts = facts_of("bets")

    origins = Counter(entity.origin for entity in facts.entities)

    assert origins == {"stated": 14, "implied": 2}
    assert len(facts.patterns) == 9
    assert len(facts.examples) == 11
    assert len(facts.lifecycle) == 27


def test_bets_describes_eight_life_cycles_by_known_events() -> None:
    facts = facts_of("bets")

    subjects = {each.subject for each in facts.lifecycle}
    events = {each.event for each in facts.lifecycle}

    assert len(subjects) == 8
    assert events == {"created", "updated", "archived", "cleanup", "deleted", "retention"}


@pytest.mark.parametrize(
    ("subject", "per_game"),
    [
        ("Odds records", 100),
        ("Historical odds", 100),
        ("Prediction records", 20),
        ("Outcome records", 3),
    ],
)
def test_bets_yearly_records_are_those_of_25_games_a_day(subject: str, per_game: int) -> None:
    figures = facts_of("bets").capacity

    amounts = [
        each.amount for each in figures if (each.group, each.subject) == ("storage", subject)
    ]

    assert amounts == [Decimal(per_game * 25 * 365)]


def test_the_settled_example_pays_stake_and_profit() -> None:
    facts = facts_of("bets")
    item = facts.whole(facts.example("Benny bet after settlement"))
    stake, odds = Decimal(str(item["bet_amount"])), Decimal(str(item["odds"]))

    profit = (stake * 100 / -odds).quantize(Decimal("0.01"))

    assert odds == -150
    assert profit == item["profit"] == Decimal("10.33")
    assert stake + profit == item["payout"] == Decimal("25.83")


def test_the_inverse_example_mirrors_its_original() -> None:
    facts = facts_of("bets")
    original = facts.example("analysis").item
    inverse = facts.example("inverse analysis").item

    confidences = [Decimal(str(item["confidence"])) for item in (original, inverse)]

    assert sum(confidences) == 1
    assert inverse["original_prediction"] == original["prediction"]
    assert inverse["prediction"] == original["away_team"]


def test_cricket_has_eleven_tables_with_their_patterns() -> None:
    facts = facts_of("cricket")

    counts = {table.name: len(facts.patterns_of(table.name)) for table in facts.tables}

    assert counts == CRICKET_PATTERNS
    assert len(counts) == 11
    assert len(facts.patterns) == 52


def test_cricket_has_three_indexes_six_expiring_tables_and_one_entity_each() -> None:
    facts = facts_of("cricket")

    indexes = [index.name for table in facts.tables for index in table.indexes]
    expiring = {table.name: table.ttl.attribute for table in facts.tables if table.ttl.expires}

    assert indexes == [
        "leagueCode-startTime-index",
        "userId-index",
        "leagueId-startingAt-index",
    ]
    assert expiring == {
        "live-activities": "ttl",
        "active-matches": "ttl",
        "cricket-devices": "ttl",
        "cricket-match-follows": "expiresAt",
        "DisplayStateCache": "ttl",
        "cricket-fixture-cache": "ttl",
    }
    assert [entity.table for entity in facts.entities] == [table.name for table in facts.tables]


def test_cricket_removed_four_tables_and_one_index_that_nothing_names() -> None:
    facts = facts_of("cricket")
    names = {table.name for table in facts.tables}
    gone = {name for each in facts.removed_tables for name in (each.name, each.short_name)}

    assert len(facts.removed_tables) == 4
    assert names & gone == set()
    assert [(each.table, each.name) for each in facts.removed_indexes] == [
        ("cricket-fixtures", "live-index")
    ]
    assert {name for table in facts.tables for name in table.replaces} <= gone


def test_crickets_access_summary_differs_from_its_tables_only_where_noted() -> None:
    facts = facts_of("cricket")
    in_tables = {
        (each.service, table.name): each.mode
        for table in facts.tables
        for each in table.accessed_by
    }
    in_summary = {
        (row.service, name): row.mode for row in facts.access_summary for name in row.tables
    }
    shared = in_tables.keys() & in_summary.keys()
    noted = facts.access_disagreements

    other_mode = {pair for pair in shared if in_tables[pair] != in_summary[pair]}

    assert len(facts.access_summary) == 17
    assert {(each.service, each.table) for each in noted.only_in_tables} == (
        in_tables.keys() - in_summary.keys()
    )
    assert {(each.service, each.table) for each in noted.only_in_summary} == (
        in_summary.keys() - in_tables.keys()
    )
    assert {(each.service, each.table) for each in noted.wider_in_summary} == other_mode


def test_every_cricket_table_is_owned_by_one_service_of_the_summary() -> None:
    facts = facts_of("cricket")
    names = {table.name for table in facts.tables}

    first = {table.accessed_by[0].service: table.name for table in facts.tables}
    owners = {row.service: row.tables[0] for row in facts.access_summary[:11]}

    assert first == owners
    assert set(owners.values()) == names
    assert {row.mode for row in facts.access_summary[:11]} == {"read/write"}


def test_keiba_has_one_on_demand_table_of_five_kinds_of_items() -> None:
    facts = facts_of("keiba")
    (table,) = facts.tables

    kept = {
        (entity.templates("PK"), entity.templates("SK")): entity.lifetime_seconds
        for entity in facts.entities
    }

    assert (table.name, table.partition.name, table.ttl.attribute) == ("keiba_data", "PK", "ttl")
    assert table.billing is not None
    assert table.billing.mode == "PAY_PER_REQUEST"
    assert kept == {
        (("RACE#{race_id}",), ("METADATA",)): 7 * 86400,
        (("HORSE#{horse_id}",), ("RESULTS",)): 7 * 86400,
        (("HORSE#{horse_id}",), ("PARENT",)): 7 * 86400,
        (("JOCKEY#{jockey_id}",), ("STATS",)): 7 * 86400,
        (("DATE#{YYYYMMDD}",), ("RACES",)): 86400,
    }


def test_keiba_has_eight_scenarios_of_four_requirements() -> None:
    facts = facts_of("keiba")
    names = {entity.name for entity in facts.entities}

    requirements = Counter(scenario.requirement for scenario in facts.scenarios)

    assert requirements == {
        "DynamoDB Caching Layer": 4,
        "Cache Retrieval": 1,
        "Single Table Design": 1,
        "Error Handling": 2,
    }
    assert {name for scenario in facts.scenarios for name in scenario.entities} == names


def test_trainer_has_three_tables_with_three_patterns_each() -> None:
    facts = facts_of("trainer")

    counts = {table.name: len(facts.patterns_of(table.name)) for table in facts.tables}

    assert counts == {"Attempts": 3, "Profiles": 3, "Scenarios": 3}
    assert [table.number for table in facts.tables] == [1, 2, 3]
    assert {example.entity for example in facts.examples} == {"Attempt", "Profile", "Scenario"}
    assert [shape.name for shape in facts.shapes] == [
        "Answer",
        "Evaluation",
        "Dimension Statistics",
        "Question",
    ]


def test_trainer_streams_attempts_and_provisions_scenarios() -> None:
    facts = facts_of("trainer")

    views = {table.name: table.stream_view for table in facts.tables}
    units = {
        table.name: (table.billing.mode, table.billing.read_units, table.billing.write_units)
        for table in facts.tables
        if table.billing is not None
    }

    assert views == {"Attempts": "NEW_IMAGE", "Profiles": None, "Scenarios": None}
    assert units == {
        "Attempts": ("PAY_PER_REQUEST", None, None),
        "Profiles": ("PAY_PER_REQUEST", None, None),
        "Scenarios": ("PROVISIONED", 5, 1),
    }


def test_trainer_indexes_project_all() -> None:
    facts = facts_of("trainer")

    projections = {
        index.name: index.projection for table in facts.tables for index in table.indexes
    }

    assert projections == {"UserAttempts": "ALL", "ActiveScenarios": "ALL"}


def test_every_trainer_entity_carries_a_schema_version() -> None:
    facts = facts_of("trainer")

    versions = [
        each.values
        for entity in facts.entities
        for each in entity.attributes
        if each.name == "schemaVersion"
    ]

    assert versions == [("1.0",)] * 3
