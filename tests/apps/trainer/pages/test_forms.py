"""What forms send is read into answers, seconds and scores; nonsense is refused by name."""

from datetime import UTC, datetime

import pytest

from grandstand.apps.trainer.domain.scenarios import Forecast, Question
from grandstand.apps.trainer.pages.instructor import parse_scores
from grandstand.apps.trainer.pages.practice import parse_attempt, parse_token
from grandstand.apps.trainer.services.validation import AnswerInput, InvalidAnswer

_NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
_QUESTIONS = (
    Question("q1", "What is assumed?", "long", 100, ("logic",)),
    Question("q2", "How likely is it?", "short", 50, ("logic",), None, Forecast("It rains")),
)


def test_every_question_gets_what_was_written_to_it() -> None:
    texts = {"answer.q1": "That it holds", "answer.q2": "Hardly", "probability.q2": " 30 "}

    given = parse_attempt(texts, _QUESTIONS, _NOW)

    assert given.answers == (
        AnswerInput("q1", "That it holds"),
        AnswerInput("q2", "Hardly", 30),
    )


@pytest.mark.parametrize("text", ["likely", "1.5", "-3", "\uff13"])
def test_a_probability_that_is_no_number_is_refused_by_its_field(text: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        parse_attempt({"probability.q2": text}, _QUESTIONS, _NOW)

    assert refused.value.field == "answers.1.probabilityPercent"


@pytest.mark.parametrize(
    ("seconds", "opened", "counted"),
    [
        ("90", "", 90),
        ("90", str(int(_NOW.timestamp()) - 60), 150),
        ("0", str(int(_NOW.timestamp()) - 86_400), 14_400),
        ("0", str(int(_NOW.timestamp()) + 500), 0),
        ("a while", "yesterday", 0),
        ("9" * 12, "", 604_800),
    ],
)
def test_seconds_are_those_a_script_counted_or_those_since_the_page_was_opened(
    seconds: str, opened: str, counted: int
) -> None:
    given = parse_attempt({"seconds": seconds, "opened": opened}, _QUESTIONS, _NOW)

    assert given.duration_seconds == counted


def test_only_scores_that_differ_are_asked_for() -> None:
    texts = {"score.logic": "3", "score.clarity": "2", "score.evidence": "much"}

    assert parse_scores(texts, {"logic": 1, "clarity": 2, "evidence": 0}) == {"logic": 3}


def test_a_form_without_a_token_has_none() -> None:
    assert parse_token({}) is None
    assert parse_token({"token": "abc"}) == "abc"
