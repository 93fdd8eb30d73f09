"""The bets table and its indexes. Entities and access patterns are in the modules beside it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from grandstand.apps.bets.domain.records import slug
from grandstand.storage.tables import Entity, Index, Table
from grandstand.storage.tables.attribute_values import Item

SCHEMA_VERSION: Final = "2.1"

bets = Table(
    "carpool-bets-v2-{environment}",
    partition="pk",
    sort="sk",
    ttl="ttl",
    indexes=(
        Index("ActiveBetsIndexV2", "active_bet_pk", "commence_time"),
        Index("AnalysisGSI", "analysis_pk", "model_type"),
        Index("AnalysisTimeGSI", "analysis_time_pk", "commence_time"),
        Index("VerifiedAnalysisGSI", "verified_analysis_pk", "verified_analysis_sk"),
        Index("TeamOutcomesIndex", "team_outcome_pk", "completed_at"),
        Index("UserModelsIndex", "user_id", "model_id"),
        Index("H2HIndex", "h2h_pk", "h2h_sk"),
        Index("GameIndex", "game_index_pk", "game_index_sk"),
        Index("GSI1", "GSI1PK", "GSI1SK"),
    ),
    purpose="Odds, predictions, outcomes, models and Benny's bets.",
)

TABLES: Final = (bets,)


class GameRow(Entity):
    """The fields of every row about a game."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime


class TeamRow(Entity):
    """The fields of every row about a team; its key has the team's slug."""

    sport: str
    team: str

    @property
    def team_slug(self) -> str:
        return slug(self.team)


def end_of_key(item: Item) -> str:
    """Return the last part of an item's sort key, where rows without a version keep their time."""
    return str(item["sk"]).rpartition("#")[2]
