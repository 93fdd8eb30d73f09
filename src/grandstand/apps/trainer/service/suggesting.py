"""Kept here: which scenario to try next, worked out from what is weak and what was tried."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from grandstand.apps.trainer.model import DIFFICULTIES
from grandstand.apps.trainer.model.rubric import BY_NAME
from grandstand.apps.trainer.service.values import Suggestion
from grandstand.apps.trainer.store import Scenario


def suggested(
    scenarios: Sequence[Scenario], weak: Sequence[str], tried: Collection[str]
) -> Suggestion | None:
    """Answer the scenario that exercises most of what is weak, the weakest counting most.

    What was not tried comes first, then what is easier, then by name; None when none is on offer.
    """
    weights = {name: len(weak) - at for at, name in enumerate(weak)}
    ranked = sorted(
        scenarios,
        key=lambda each: (
            each.scenario_id in tried,
            -_exercise(each, weights),
            DIFFICULTIES.index(each.difficulty),
            each.scenario_id,
        ),
    )
    return Suggestion(ranked[0], _reason(ranked[0], weak, tried)) if ranked else None


def in_words(suggestion: Suggestion) -> str:
    """Say a suggestion as a recommendation of a profile."""
    return f"Try “{suggestion.scenario.title}”: {suggestion.reason}"


def _exercise(scenario: Scenario, weights: Mapping[str, int]) -> int:
    """How much of what is weak the questions ask for."""
    focused = [area for question in scenario.questions for area in question.focus_areas]
    return sum(weights.get(area, 0) for area in focused)


def _reason(scenario: Scenario, weak: Sequence[str], tried: Collection[str]) -> str:
    focused = {area for question in scenario.questions for area in question.focus_areas}
    hit = [BY_NAME[name].title.lower() for name in weak if name in focused]
    if hit:
        return f"it exercises {_listed(hit)}"
    if scenario.scenario_id in tried:
        return "you have tried them all; see how you do now"
    return f"a case you have not tried, {scenario.difficulty}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
