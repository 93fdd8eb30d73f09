"""One or more records of every entity of the trainer, under the specification's names."""

from datetime import UTC, datetime
from decimal import Decimal

from grandstand.apps.trainer.domain.evaluation import Answer, DimensionScore, Evaluation
from grandstand.apps.trainer.domain.profiles import DimensionStatistics, Improvement, Weakness
from grandstand.apps.trainer.domain.scenarios import Question
from grandstand.apps.trainer.store import Attempt, Profile, Scenario
from grandstand.storage.tables import Entity

MORNING = datetime(2025, 12, 22, 10, 30, tzinfo=UTC)
JUDGED = datetime(2025, 12, 22, 10, 35, tzinfo=UTC)

ANSWERS = (Answer("q1", "What is assumed?", "That one thing causes the other", 6),)
EVALUATION = Evaluation(
    78, (DimensionScore("clarity", 3, ("Clear thesis",)),), "Well argued", "offline/1", JUDGED
)
DRAFT = Attempt(attempt_id="a1", user_id="ada", scenario_id="s1", timestamp=MORNING)
COMPLETED = DRAFT.replace(
    answers=ANSWERS, evaluation=EVALUATION, duration_seconds=1800, status="completed"
)
PROFILE = Profile(
    user_id="ada",
    timestamp=JUDGED,
    attempt_count=15,
    dimensions=(
        DimensionStatistics("clarity", Decimal("3.2"), Decimal("0.4"), "stable", (3, 3, 4)),
    ),
    weaknesses=(Weakness("assumptions", Decimal("1.8"), Decimal("-1.4")),),
    improvements=(Improvement("logic", Decimal("0.8"), Decimal("2.7"), Decimal("3.5")),),
    recommendations=("Look for hidden assumptions",),
    overall_average=Decimal("76.5"),
)
SCENARIO = Scenario(
    scenario_id="s1",
    title="A sudden drop in sales",
    description="Sales fell by a third in a week.",
    difficulty="beginner",
    tags=frozenset({"business"}),
    questions=(Question("q1", "What is assumed?", "long", 100, ("assumptions",)),),
    active=True,
    created_at=MORNING,
    estimated_minutes=20,
)

RECORDS: dict[str, tuple[Entity, ...]] = {
    "Attempt": (COMPLETED, DRAFT),
    "Profile": (PROFILE,),
    "Scenario": (SCENARIO, SCENARIO.replace(scenario_id="s2", active=False)),
}
