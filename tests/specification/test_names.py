"""The names of the specifications exist in the code, so that a reader can search for them."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import grandstand

SOURCE = Path(grandstand.__file__).parent

CRICKET = (
    "FixtureService",
    "TeamService",
    "TeamSeasonService",
    "LeagueService",
    "DeviceService",
    "MatchFollowService",
    "LiveActivityRepository",
    "ActiveMatchRepository",
    "LockService",
    "DisplayStateCacheService",
    "FixtureCacheService",
    "LACoordinator",
    "ApnsDeliveryService",
    "DisplayStateBuilder",
    "MatchOrchestrator",
    "ScorePoller",
    "HubDataService",
    "FixtureSyncJob",
    "TeamSyncJob",
    "LeagueSyncJob",
    "LiveMatchReconciler",
    "MatchEventBus",
    "CooldownFilter",
    "SportMonksClient",
)
BETS = (
    "OddsCollector",
    "OutcomeCollector",
    "OddsCleanup",
    "AnalysisGenerator",
    "ModelAdjustmentCalculator",
    "UserModelWeightAdjuster",
    "BennyTrader",
)
GATHERER = ("MarketRegistry", "Deduplicator")


def _count_classes(app: str) -> Counter[str]:
    return Counter(
        node.name
        for path in (SOURCE / "apps" / app).rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )


@pytest.mark.parametrize(
    ("app", "names"), [("cricket", CRICKET), ("bets", BETS), ("gatherer", GATHERER)]
)
def test_specified_names_are_classes(app: str, names: tuple[str, ...]) -> None:
    defined = _count_classes(app)

    assert {name: defined[name] for name in names} == dict.fromkeys(names, 1)
