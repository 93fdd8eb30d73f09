"""Earlier runs and races for tests, each with only what the test is about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from grandstand.apps.keiba.domain.horses import Form, PastRun
from grandstand.apps.keiba.domain.races import RaceCard, Runner

RACE_DAY = date(2026, 11, 15)


def run(days_ago: int = 28, **known: Any) -> PastRun:
    """A run over 1600 metres of turf in 1:35.5, so many days before the race day."""
    facts: dict[str, Any] = {
        "run_on": RACE_DAY - timedelta(days=days_ago),
        "track": "東京",
        "race_name": "3歳以上1勝クラス",
        "distance": 1600,
        "track_type": "turf",
        "going": "firm",
        "position": 4,
        "runner_count": 10,
        "time_seconds": Decimal("95.5"),
    }
    return PastRun(**(facts | known))


def form(horse_id: str, runs: Sequence[PastRun]) -> Form:
    """A horse's form."""
    return Form(horse_id, f"ウマ{horse_id}", tuple(runs))


def card(**known: Any) -> RaceCard:
    """A race over 1600 metres of firm turf at Tokyo, in the class of one win."""
    facts: dict[str, Any] = {
        "race_id": "202605050611",
        "race_name": "秋風賞",
        "horses": (),
        "distance": 1600,
        "track_type": "turf",
        "track_name": "東京",
        "going": "firm",
        "race_class": "1勝クラス",
        "race_date": RACE_DAY,
    }
    return RaceCard(**(facts | known))


def runner(horse_id: str = "2023100001", **known: Any) -> Runner:
    """A runner on the card."""
    return Runner(horse_id, f"ウマ{horse_id}", **known)
