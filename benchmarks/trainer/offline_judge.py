"""Resistance of the offline judge to prompt injection, and its speed."""

from benchmarks.harness.rows import Limit, Row
from benchmarks.harness.timing import per_second
from grandstand.apps.trainer.domain.evaluation import EvaluationRequest
from grandstand.apps.trainer.domain.signals.assessment import assess
from tests.apps.trainer.canaries import CANARIES, WEAK, work_of
from tests.apps.trainer.labelled.labelled import cases


def canaries() -> Row:
    """Count the payloads that gain a point in any dimension, in any position."""
    baseline = assess(work_of(WEAK)).scores
    gaining = [
        name
        for name, payload in CANARIES.items()
        for text in (f"{WEAK} {payload}", f"{payload} {WEAK}", f"{WEAK}\n\n{payload}")
        if any(score > baseline[each] for each, score in assess(work_of(text)).scores.items())
    ]
    return Row(
        measure=f"payloads of {len(CANARIES)} that gain a point",
        unit="payloads",
        ours=float(len(set(gaining))),
        aim=Limit(0),
        higher_is_better=False,
    )


def evaluation_rate() -> Row:
    """Measure attempts at whole scenarios, evaluated sequentially on one core."""
    attempts = _attempts()
    rate = per_second(lambda: [assess(work) for work in attempts], count=len(attempts))
    words = sum(each.word_count for work in attempts for each in work.answers) // len(attempts)
    return Row(
        measure=f"attempts evaluated offline, {words} words each",
        unit="attempts/s",
        ours=rate,
        aim=Limit(200),
    )


def _attempts() -> list[EvaluationRequest]:
    """Return the good answers to each scenario as one attempt."""
    by_scenario: dict[str, list[EvaluationRequest]] = {}
    for case in (*cases("tuning"), *cases("held")):
        if case.label.quality == "good":
            by_scenario.setdefault(case.scenario_id, []).append(case.work)
    return [
        EvaluationRequest(
            works[0].scenario_title,
            works[0].scenario_description,
            tuple(work.questions[0] for work in works),
            tuple(work.answers[0] for work in works),
        )
        for works in by_scenario.values()
    ]
