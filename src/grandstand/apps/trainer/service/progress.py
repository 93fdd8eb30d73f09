"""Kept here: how far a person has come with each scenario, as their attempts tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from grandstand.apps.trainer.service.values import Progress
from grandstand.apps.trainer.store import Attempt

Tried: TypeAlias = dict[str, Progress]


def progress_of(attempts: Iterable[Attempt]) -> Tried:
    """Answer the progress in each scenario that was tried; what is open counts before the rest.

    `attempts` stand newest first.
    """
    tried: Tried = {}
    for attempt in attempts:
        before = tried.get(attempt.scenario_id, Progress())
        tried[attempt.scenario_id] = _with(before, attempt)
    return {name: each for name, each in tried.items() if each != Progress()}


def _with(before: Progress, attempt: Attempt) -> Progress:
    if attempt.status == "abandoned":
        return before
    after = replace(before, last_at=before.last_at or attempt.timestamp)
    if attempt.evaluation is not None:
        best = max(attempt.evaluation.overall_score, before.best_score or 0)
        state = "done" if before.state == "new" else before.state
        return replace(after, state=state, completed=before.completed + 1, best_score=best)
    if attempt.submitted_at is not None:
        return after if before.state == "draft" else replace(after, state="waiting")
    if before.draft_id is not None:
        return after
    return replace(after, state="draft", draft_id=attempt.attempt_id)
