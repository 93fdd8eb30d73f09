"""Where the declarations are that answer the facts, and where a decision departs from them."""

from dataclasses import dataclass

from grandstand.apps.bets import store as bets
from grandstand.apps.cricket.app import APP as CRICKET_APP
from grandstand.apps.keiba import store as keiba
from grandstand.apps.trainer import store as trainer
from grandstand.storage.tables import Entity, Table
from grandstand.storage.tables.declaration.patterns import placeholder_text
from tests.apps.bets.records import RECORDS as BETS
from tests.apps.cricket.records import RECORDS as CRICKET
from tests.apps.keiba.records import RECORDS as KEIBA
from tests.apps.trainer.records import RECORDS as TRAINER

TABLES: dict[str, tuple[Table, ...]] = {
    "bets": bets.TABLES,
    "cricket": CRICKET_APP.tables,
    "keiba": keiba.TABLES,
    "trainer": trainer.TABLES,
}
RECORDS: dict[str, dict[str, tuple[Entity, ...]]] = {
    "bets": BETS,
    "cricket": CRICKET,
    "keiba": KEIBA,
    "trainer": TRAINER,
}
BEYOND_TABLES = {
    "bets": (),
    "cricket": ("cricket-match-events", "cricket-deliveries", "cricket-followers"),
    "keiba": (),
    "trainer": ("Totals",),
}

PATTERNS: dict[str, tuple[tuple[str, ...], ...]] = {
    "carpool-bets-v2-{environment}": (
        ("GameOdds.upcoming",),
        ("Analysis.of_model_for_game",),
        ("Analysis.performance",),
        ("TeamOutcome.recent",),
        ("UserModel.of_user",),
        ("BennyBet.recent",),
        ("ModelAdjustment.of_sport",),
        ("HistoricalOdds.of_game",),
        ("Learning.current",),
    ),
    "cricket-fixtures": (
        ("Fixture.by_id",),
        ("Fixture.by_ids",),
        ("Fixture.starting_between",),
        ("Fixture.save_all",),
        ("Fixture.update_progress",),
        ("Fixture.archive",),
    ),
    "live-activities": (
        ("LiveActivity.of_match",),
        ("LiveActivity.of_user",),
        ("LiveActivity.register",),
        ("LiveActivity.rotate_token",),
        ("LiveActivity.end",),
        ("LiveActivity.suspend",),
    ),
    "active-matches": (
        ("ActiveMatch.by_id",),
        ("ActiveMatch.all_items",),
        ("ActiveMatch.register",),
        ("ActiveMatch.save_state",),
        ("ActiveMatch.update_cooldowns",),
        ("ActiveMatch.deactivate",),
        ("ActiveMatch.remove",),
    ),
    "cricket-teams": (
        ("Team.by_id",),
        ("Team.all_items",),
        ("Team.save_all",),
        ("Team.update_fields",),
    ),
    "cricket-team-seasons": (("TeamSeason.of_season",), ("TeamSeason.save_all",)),
    "cricket-leagues": (
        ("League.by_id",),
        ("League.all_items",),
        ("League.active_leagues",),
        ("League.save",),
        ("League.update_fields",),
        ("League.remove",),
    ),
    "cricket-devices": (
        ("Device.first_of_user",),
        ("Device.of_user", "Device.remove", "Device.register"),
        ("Device.by_token", "Device.set_push_to_start"),
        ("Device.remove",),
    ),
    "cricket-match-follows": (
        ("MatchFollow.by_key",),
        ("MatchFollow.of_match",),
        ("MatchFollow.follow",),
        ("MatchFollow.unfollow",),
        ("MatchFollow.change_team",),
        ("MatchFollow.of_match", "MatchFollow.remove_all"),
    ),
    "cricket-locks": (("Lock.acquire",), ("Lock.release",), ("Lock.extend",)),
    "DisplayStateCache": (("DisplayState.by_key",), ("DisplayState.save",)),
    "cricket-fixture-cache": (
        ("CachedFixture.by_id",),
        ("CachedFixture.by_ids",),
        ("CachedFixture.of_league",),
        ("CachedFixture.all_items",),
        ("CachedFixture.save",),
        ("CachedFixture.save_all",),
    ),
    "keiba_data": (
        ("Race.by_id",),
        ("HorseResults.by_id",),
        ("HorseParents.by_id",),
        ("JockeyStats.by_id",),
        ("DayRaces.on",),
        ("Race.save",),
        ("HorseResults.save",),
        ("HorseParents.save",),
        ("JockeyStats.save",),
        ("DayRaces.save",),
    ),
    "Attempts": (("Attempt.by_id",), ("Attempt.of_user",), ("Attempt.recent",)),
    "Profiles": (("Profile.latest",), ("Profile.history",), ("Profile.record",)),
    "Scenarios": (("Scenario.by_id",), ("Scenario.all_active",), ("Scenario.of_difficulty",)),
}


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision record changes or adds, by the record's number."""

    record: int
    what: frozenset[str]


def decided(record: int, *what: str) -> Decided:
    return Decided(record, frozenset(what))


DEPARTURES = {
    "trainer": decided(
        20, "Scenarios: the sort key of index ActiveScenarios is difficulty, not difficultyKey"
    ),
}

# Attributes that stored items have and the specification does not name.
ADDED_ATTRIBUTES = {
    "Attempt": decided(
        20,
        "submittedAt",
        "evaluationState",
        "evaluationDetails",
        "evaluationError",
        "secondOpinion",
        "overrides",
        "revisionOf",
        "withdrawnAt",
    ),
    "Profile": decided(20, "sourceAttemptId", "digest", "revision"),
    "Race": decided(50, "warnings"),
    "Horse Results": decided(50, "warnings"),
    "Horse Parents": decided(50, "warnings"),
    "Jockey Stats": decided(50, "warnings"),
    "Day Races": decided(50, "date", "schemaVersion", "warnings"),
    "Active Match": decided(
        56, "memory", "seq", "latestUpdateKey", "latestUpdateAt", "channelId", "closedAt"
    ),
    "Lock": decided(22, "nonce"),
    "Display State": decided(22, "state", "computedAt"),
    "Cached Fixture": decided(22, "fixture", "fetchedAt"),
    "Live Activity": decided(
        56,
        *("tokenRegisteredAt", "startsSent", "startSentAt", "alertKinds", "muted", "mutedUntil"),
        "channelId",
    ),
    "Match Follow": decided(56, "announcedFor"),
    "Device": decided(23, "lastSeenAt"),
    "Fixture": decided(
        26,
        *("leagueId", "seasonId", "homeTeamId", "awayTeamId", "format", "round"),
        *("status", "note", "endTime"),
    ),
    "Team": decided(26, "name", "code", "imagePath", "nationalTeam"),
    "Team Season": decided(
        26,
        *("leagueId", "position", "played", "won", "lost", "drawn", "noResult", "points"),
    ),
    "League": decided(26, "name", "code", "seasonId", "imagePath"),
    "Game Odds Record": decided(24, "captured_at", "schemaVersion"),
    "Prop Odds Record": decided(24, "captured_at", "schemaVersion"),
    "Team Stats": decided(24, "date", "schemaVersion"),
    "Injury Record": decided(24, "date", "schemaVersion"),
    "Analysis Record": decided(
        61,
        *("selection", "raw", "fair", "price", "as_of", "reasons"),
        *("verdict", "outcome", "closing", "clv"),
    ),
    "Prop Analysis Record": decided(
        61,
        *("selection", "raw", "fair", "price", "as_of", "reasons"),
        *("verdict", "outcome", "closing", "clv"),
    ),
    "User Model": decided(61, "description", "datasets", "GSI1PK", "GSI1SK"),
    "Benny Bet": decided(
        61,
        *("selection", "raw", "fair", "bookmaker", "model_id", "opinion_digest", "week"),
        *("verdict", "closing", "clv", "revision", "game_index_pk", "game_index_sk"),
    ),
    "Historical Odds Record": decided(61, "player"),
    "Game Outcome": decided(24, "corrected_at"),
    "Team Outcome": decided(24, "corrected_at"),
    "Model Adjustment": decided(27, "evidence", "ttl"),
}
# Attributes of the facts that no item has, since another decision makes them needless.
DROPPED_ATTRIBUTES = {"Scenario": decided(20, "difficultyKey")}

# Attributes that a decoded and encoded example has beyond what the example shows.
ADDED_TO_EXAMPLES = {
    "attempt": decided(20, "schemaVersion"),
    "profile": decided(20, "schemaVersion"),
    "scenario": decided(20, "schemaVersion", "activeKey"),
    "schema version": decided(20, "activeKey"),
    "game odds": decided(24, "captured_at", "schemaVersion"),
    "user model": decided(61, "GSI1PK", "GSI1SK"),
    "Benny bet": decided(61, "game_index_pk", "game_index_sk"),
    "Benny bet after settlement": decided(61, "game_index_pk", "game_index_sk"),
}

# Conditions that a write carries beyond those of its pattern.
ADDED_CONDITIONS = {
    ("Profiles", 3): decided(20, "attribute_not_exists(revision) OR revision < :"),
    ("cricket-locks", 2): decided(22, "nonce = :"),
    ("cricket-locks", 3): decided(22, "nonce = :"),
    ("active-matches", 4): decided(22, "epoch = :"),
    ("active-matches", 5): decided(22, "epoch = :"),
    ("active-matches", 6): decided(22, "epoch = :"),
}

# Patterns whose key condition, filter or order is not the one of the facts.
OTHER_KEYS = {
    ("Scenarios", 3): decided(20, "difficulty = beginner"),
    ("carpool-bets-v2-{environment}", 2): decided(
        24, f"begins_with(sk, {placeholder_text('model')}#)"
    ),
}
WITHOUT_FILTER = {("carpool-bets-v2-{environment}", 1): decided(25, "latest = true")}
NEWEST_FIRST = {
    ("carpool-bets-v2-{environment}", 6): decided(24, "descending"),
    ("Attempts", 3): decided(20, "descending"),
}

ALL_DECIDED = tuple(
    each
    for listed in (
        DEPARTURES,
        ADDED_ATTRIBUTES,
        DROPPED_ATTRIBUTES,
        ADDED_TO_EXAMPLES,
        ADDED_CONDITIONS,
        OTHER_KEYS,
        WITHOUT_FILTER,
        NEWEST_FIRST,
    )
    for each in listed.values()
)
