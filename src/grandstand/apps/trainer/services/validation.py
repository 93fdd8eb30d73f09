"""Validation of submitted answers; errors name the field at fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from grandstand.apps.trainer.domain.evaluation import Answer, word_count
from grandstand.apps.trainer.domain.scenarios import Question
from grandstand.core.errors import InvalidInput

MIN_ANSWER_CHARS: Final = 10
# A DynamoDB item holds 400 KB; the scores and their reasons need the rest.
MAX_ANSWERS_BYTES: Final = 200_000
MAX_DURATION_SECONDS: Final = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class AnswerInput:
    """An answer as submitted."""

    question_id: str
    answer: str
    probability_percent: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptInput:
    """The answers so far, and the seconds spent on them."""

    answers: tuple[AnswerInput, ...] = ()
    duration_seconds: int = 0


class InvalidAnswer(InvalidInput):
    """A field of a submission is invalid."""

    code: ClassVar[str] = "invalid-answer"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def validate_draft(
    questions: tuple[Question, ...], answers: tuple[AnswerInput, ...], max_chars: int
) -> tuple[Answer, ...]:
    """Return the answers of a draft in the order of the questions.

    Raises InvalidAnswer.
    """
    by_id = {question.question_id: question for question in questions}
    valid: dict[str, Answer] = {}
    for at, answer in enumerate(answers):
        question = by_id.get(answer.question_id)
        if question is None:
            message = f"Unknown question. The questions are {', '.join(by_id)}"
            raise InvalidAnswer(f"answers.{at}.questionId", message)
        if answer.question_id in valid:
            raise InvalidAnswer(f"answers.{at}.questionId", "This question is answered twice")
        valid[answer.question_id] = _validate_answer(question, answer, at, max_chars)
    size = sum(len(answer.answer.encode()) for answer in valid.values())
    if size > MAX_ANSWERS_BYTES:
        message = f"All answers together have {size:,} bytes; the limit is {MAX_ANSWERS_BYTES:,}"
        raise InvalidAnswer("answers", message)
    return tuple(valid[question_id] for question_id in by_id if question_id in valid)


def validate_duration(seconds: int) -> int:
    """Return the seconds spent.

    Raises InvalidAnswer.
    """
    if not 0 <= seconds <= MAX_DURATION_SECONDS:
        message = f"The duration must be from 0 to {MAX_DURATION_SECONDS:,} seconds"
        raise InvalidAnswer("durationSeconds", message)
    return seconds


def validate_submission(
    questions: tuple[Question, ...],
    answers: tuple[Answer, ...],
    inputs: tuple[AnswerInput, ...] | None = None,
) -> tuple[Answer, ...]:
    """Return the answers to submit, without blank ones.

    Errors name a field by its position in `inputs`, or in `answers` if there are no inputs.

    Raises InvalidAnswer.
    """
    forecasts = {each.question_id for each in questions if each.forecast is not None}
    ids = [each.question_id for each in (answers if inputs is None else inputs)]
    positions = {question_id: at for at, question_id in enumerate(ids)}
    valid = []
    for answer in answers:
        at, length = positions[answer.question_id], len(answer.answer.strip())
        if not length and answer.probability_percent is None:
            continue
        if length < MIN_ANSWER_CHARS:
            message = f"An answer needs at least {MIN_ANSWER_CHARS} characters; this has {length}"
            raise InvalidAnswer(f"answers.{at}.answer", message)
        if answer.question_id in forecasts and answer.probability_percent is None:
            message = "Enter a probability from 0 to 100 percent"
            raise InvalidAnswer(f"answers.{at}.probabilityPercent", message)
        valid.append(answer)
    if not valid:
        raise InvalidAnswer("answers", "Answer at least one question before you submit")
    return tuple(valid)


def _validate_answer(question: Question, answer: AnswerInput, at: int, max_chars: int) -> Answer:
    field = f"answers.{at}"
    if len(answer.answer) > max_chars:
        length = len(answer.answer)
        message = f"An answer has at most {max_chars:,} characters; this has {length:,}"
        raise InvalidAnswer(f"{field}.answer", message)
    try:
        answer.answer.encode()
    except UnicodeEncodeError as error:
        message = "The text contains invalid characters (unpaired surrogates)"
        raise InvalidAnswer(f"{field}.answer", message) from error
    percent = answer.probability_percent
    if percent is not None and question.forecast is None:
        message = "This question does not ask for a probability"
        raise InvalidAnswer(f"{field}.probabilityPercent", message)
    if percent is not None and not 0 <= percent <= 100:
        message = "A probability must be from 0 to 100 percent"
        raise InvalidAnswer(f"{field}.probabilityPercent", message)
    return Answer(
        question_id=question.question_id,
        question_text=question.text,
        answer=answer.answer,
        word_count=word_count(answer.answer),
        probability_percent=percent,
    )
