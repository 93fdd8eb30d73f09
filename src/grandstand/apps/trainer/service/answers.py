"""Kept here: what may be written down as an answer, and what is refused, naming the field."""

from __future__ import annotations

from typing import Final

from grandstand.apps.trainer.model import Answer, Question
from grandstand.apps.trainer.model.texts import word_count
from grandstand.apps.trainer.service.refusals import AnswerRefused
from grandstand.apps.trainer.service.values import GivenAnswer
from grandstand.apps.trainer.store import Scenario

LEAST_CHARS: Final = 10
# An item of DynamoDB holds 400 KB; the scores with their reasons take the rest.
MOST_BYTES: Final = 200_000
MOST_SECONDS: Final = 7 * 24 * 3600
_MOST_PERCENT: Final = 100


def drafted(
    scenario: Scenario, given: tuple[GivenAnswer, ...], most_chars: int
) -> tuple[Answer, ...]:
    """Answer what is kept of a draft, in the order of the questions; raise AnswerRefused."""
    questions = {question.question_id: question for question in scenario.questions}
    kept: dict[str, Answer] = {}
    for at, each in enumerate(given):
        question = questions.get(each.question_id)
        if question is None:
            known = ", ".join(questions)
            message = f"{scenario.scenario_id} asks no such question; it has {known}"
            raise AnswerRefused(f"answers.{at}.questionId", message)
        if each.question_id in kept:
            raise AnswerRefused(f"answers.{at}.questionId", "This question is answered twice")
        kept[each.question_id] = _answer(question, each, at, most_chars)
    size = sum(len(each.answer.encode()) for each in kept.values())
    if size > MOST_BYTES:
        message = f"All answers together have {size:,} bytes; {MOST_BYTES:,} are the most"
        raise AnswerRefused("answers", message)
    return tuple(kept[name] for name in questions if name in kept)


def checked_duration(seconds: int) -> int:
    """Answer the seconds spent; raise AnswerRefused for what no sitting takes."""
    if not 0 <= seconds <= MOST_SECONDS:
        message = f"Seconds are from 0 to {MOST_SECONDS:,}"
        raise AnswerRefused("durationSeconds", message)
    return seconds


def final(
    scenario: Scenario, answers: tuple[Answer, ...], given: tuple[GivenAnswer, ...] | None = None
) -> tuple[Answer, ...]:
    """Answer what is handed in, without what was left blank; raise AnswerRefused.

    Fields are named by their places in what was given, or in the draft when nothing was.
    """
    forecasts = {each.question_id for each in scenario.questions if each.forecast is not None}
    known = [each.question_id for each in (answers if given is None else given)]
    places = {question_id: at for at, question_id in enumerate(known)}
    kept = []
    for each in answers:
        at, length = places[each.question_id], len(each.answer.strip())
        if not length and each.probability_percent is None:
            continue
        if length < LEAST_CHARS:
            message = f"An answer has at least {LEAST_CHARS} characters; this has {length}"
            raise AnswerRefused(f"answers.{at}.answer", message)
        if each.question_id in forecasts and each.probability_percent is None:
            message = "This question asks for a probability, from 0 to 100 percent"
            raise AnswerRefused(f"answers.{at}.probabilityPercent", message)
        kept.append(each)
    if not kept:
        raise AnswerRefused("answers", "Answer at least one question before handing in")
    return tuple(kept)


def _answer(question: Question, given: GivenAnswer, at: int, most_chars: int) -> Answer:
    place = f"answers.{at}"
    if len(given.answer) > most_chars:
        message = f"An answer has at most {most_chars:,} characters; this has {len(given.answer):,}"
        raise AnswerRefused(f"{place}.answer", message)
    try:
        given.answer.encode()
    except UnicodeEncodeError as fault:
        message = "There are half characters in this text that cannot be kept"
        raise AnswerRefused(f"{place}.answer", message) from fault
    percent = given.probability_percent
    if percent is not None and question.forecast is None:
        message = "This question asks for no probability"
        raise AnswerRefused(f"{place}.probabilityPercent", message)
    if percent is not None and not 0 <= percent <= _MOST_PERCENT:
        message = "A probability is from 0 to 100 percent"
        raise AnswerRefused(f"{place}.probabilityPercent", message)
    return Answer(
        question_id=question.question_id,
        question_text=question.text,
        answer=given.answer,
        word_count=word_count(given.answer),
        probability_percent=percent,
    )
