"""Kept here: the one table of bets, and what its rows had in common before they had a version."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables import Index, Table
from grandstand.storage.tables.values import Item

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


def end_of_key(item: Item) -> str:
    """Answer the last part of an item's sort key: rows without a version have it nowhere else."""
    return str(item["sk"]).rpartition("#")[2]
