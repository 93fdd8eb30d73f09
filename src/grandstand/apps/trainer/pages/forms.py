"""Kept here: what the trainer's forms send, read into the words of its service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from grandstand.apps.trainer.model import Question
from grandstand.apps.trainer.model.rubric import NAMES
from grandstand.apps.trainer.service import AnswerRefused, Given, GivenAnswer

_LONGEST_SITTING: Final = timedelta(hours=4)
_MOST_SECONDS: Final = 7 * 24 * 3600
_LONGEST_TOKEN: Final = 100
_LONGEST_NUMBER: Final = 12


def token_of(texts: Mapping[str, str]) -> str | None:
    """Answer the token that lets a form sent twice count once; None when it has none."""
    return texts.get("token", "")[:_LONGEST_TOKEN] or None


def given_of(texts: Mapping[str, str], questions: Sequence[Question], now: datetime) -> Given:
    """Answer what was written to each question; raise AnswerRefused for no probability.

    Where no script counts seconds, they are those since the page was opened, a sitting at most.
    """
    answers = tuple(
        GivenAnswer(
            question.question_id,
            texts.get(f"answer.{question.question_id}", ""),
            _percent(texts.get(f"probability.{question.question_id}", ""), at),
        )
        for at, question in enumerate(questions)
    )
    return Given(answers, _seconds(texts, now))


def scores_of(texts: Mapping[str, str], before: Mapping[str, int]) -> dict[str, int]:
    """Answer the scores of an instructor's form that differ from those before."""
    asked = {name: texts.get(f"score.{name}", "") for name in NAMES}
    scores = {name: int(text) for name, text in asked.items() if _is_number(text)}
    return {name: score for name, score in scores.items() if before.get(name) != score}


def _percent(text: str, at: int) -> int | None:
    if not text.strip():
        return None
    if not _is_number(text.strip()):
        field = f"answers.{at}.probabilityPercent"
        raise AnswerRefused(field, "A probability is a whole number from 0 to 100 percent")
    return int(text)


def _seconds(texts: Mapping[str, str], now: datetime) -> int:
    counted, opened = texts.get("seconds", ""), texts.get("opened", "")
    seconds = int(counted) if _is_number(counted) else 0
    if _is_number(opened):
        since = now - datetime.fromtimestamp(min(int(opened), now.timestamp()), UTC)
        seconds += int(min(since, _LONGEST_SITTING).total_seconds())
    return min(seconds, _MOST_SECONDS)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER
