"""The offline judge beside labels made by hand, on the half that was never used in tuning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness.rows import Limit, Row
from grandstand.apps.trainer.model.rubric import NAMES, overall_score
from grandstand.apps.trainer.model.signals import assess
from tests.apps.trainer.labelled.labelled import Case, cases

_LEVELS = 5


@dataclass(frozen=True)
class Pair:
    """The scores of one answer: by hand, and by the judge."""

    case: Case
    by_hand: Mapping[str, int]
    by_judge: Mapping[str, int]


def agreement(*, each_dimension: bool) -> list[Row]:
    """Kappa and mean error over all dimensions, and how often better answers score better."""
    pairs = [Pair(each, each.label.scores, assess(each.work).scores) for each in cases("held")]
    levels = [(pair.by_hand[name], pair.by_judge[name]) for pair in pairs for name in NAMES]
    told = f"{len(pairs)} answers never used in tuning"
    rows = [
        Row(f"agreement with labels, {told}", "kappa", kappa(levels), aim=Limit(0.6)),
        Row(f"mean error, {told}", "levels", mean_error(levels), higher_is_better=False),
        Row(f"good > fair > poor, {told}", "%", 100 * in_order(pairs), aim=Limit(90)),
        Row("the same kappa on the half used in tuning", "kappa", _kappa_of_tuning()),
    ]
    if each_dimension:
        rows += [
            Row(
                f"agreement on {name}",
                "kappa",
                kappa([(p.by_hand[name], p.by_judge[name]) for p in pairs]),
            )
            for name in NAMES
        ]
    return rows


def kappa(levels: Sequence[tuple[int, int]]) -> float:
    """Cohen's kappa with quadratic weights: 1 is perfect agreement, 0 what chance would give."""
    count = len(levels)
    rows = [sum(left == level for left, _ in levels) for level in range(_LEVELS)]
    columns = [sum(right == level for _, right in levels) for level in range(_LEVELS)]
    found = sum((left - right) ** 2 for left, right in levels)
    expected = sum(
        (left - right) ** 2 * rows[left] * columns[right] / count
        for left in range(_LEVELS)
        for right in range(_LEVELS)
    )
    return 1 - found / expected if expected else 1.0


def mean_error(levels: Sequence[tuple[int, int]]) -> float:
    """By how many levels the two differ on average."""
    return sum(abs(left - right) for left, right in levels) / len(levels)


def in_order(pairs: Sequence[Pair]) -> float:
    """The share of questions whose good answer scores above the fair and that above the poor."""
    overall: dict[tuple[str, str], dict[str, int]] = {}
    for pair in pairs:
        question = overall.setdefault((pair.case.scenario_id, pair.case.question_id), {})
        question[pair.case.label.quality] = overall_score(pair.by_judge)
    ordered = [each["good"] > each["fair"] > each["poor"] for each in overall.values()]
    return sum(ordered) / len(ordered)


def _kappa_of_tuning() -> float:
    found = [(each.label.scores, assess(each.work).scores) for each in cases("tuning")]
    return kappa([(hand[name], judge[name]) for hand, judge in found for name in NAMES])
