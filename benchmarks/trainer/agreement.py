"""Agreement of the offline judge with labels made by hand, on the half not used for tuning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness.rows import Limit, Row
from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, overall_score
from grandstand.apps.trainer.domain.signals.assessment import assess
from tests.apps.trainer.labelled.labelled import Case, cases

_LEVELS = 5


@dataclass(frozen=True)
class Pair:
    """The scores of one answer, by hand and by the judge."""

    case: Case
    by_hand: Mapping[str, int]
    by_judge: Mapping[str, int]


def agreement(*, each_dimension: bool) -> list[Row]:
    """Measure kappa and mean error, and how often better answers score higher."""
    pairs = [Pair(each, each.label.scores, assess(each.work).scores) for each in cases("held")]
    levels = [
        (pair.by_hand[name], pair.by_judge[name]) for pair in pairs for name in DIMENSION_NAMES
    ]
    note = f"{len(pairs)} answers not used for tuning"
    rows = [
        Row(f"agreement with labels, {note}", "kappa", kappa(levels), aim=Limit(0.6)),
        Row(f"mean error, {note}", "levels", mean_error(levels), higher_is_better=False),
        Row(f"good > fair > poor, {note}", "%", 100 * in_order(pairs), aim=Limit(90)),
        Row("the same kappa on the half used for tuning", "kappa", _kappa_of_tuning()),
    ]
    if each_dimension:
        rows += [
            Row(
                f"agreement on {name}",
                "kappa",
                kappa([(p.by_hand[name], p.by_judge[name]) for p in pairs]),
            )
            for name in DIMENSION_NAMES
        ]
    return rows


def kappa(levels: Sequence[tuple[int, int]]) -> float:
    """Return Cohen's kappa with quadratic weights: 1 is perfect agreement, 0 is chance."""
    count = len(levels)
    rows = [sum(left == level for left, _ in levels) for level in range(_LEVELS)]
    columns = [sum(right == level for _, right in levels) for level in range(_LEVELS)]
    observed = sum((left - right) ** 2 for left, right in levels)
    expected = sum(
        (left - right) ** 2 * rows[left] * columns[right] / count
        for left in range(_LEVELS)
        for right in range(_LEVELS)
    )
    return 1 - observed / expected if expected else 1.0


def mean_error(levels: Sequence[tuple[int, int]]) -> float:
    """Return the mean difference in levels."""
    return sum(abs(left - right) for left, right in levels) / len(levels)


def in_order(pairs: Sequence[Pair]) -> float:
    """Return the share of questions with good above fair above poor answers."""
    overall: dict[tuple[str, str], dict[str, int]] = {}
    for pair in pairs:
        question = overall.setdefault((pair.case.scenario_id, pair.case.question_id), {})
        question[pair.case.label.quality] = overall_score(pair.by_judge)
    ordered = [each["good"] > each["fair"] > each["poor"] for each in overall.values()]
    return sum(ordered) / len(ordered)


def _kappa_of_tuning() -> float:
    scores = [(each.label.scores, assess(each.work).scores) for each in cases("tuning")]
    return kappa([(hand[name], judge[name]) for hand, judge in scores for name in DIMENSION_NAMES])
