"""What forms send is read into answers, seconds and scores; nonsense is refused by name."""

from datetime import UTC, datetime

import pytest

from grandstand.apps.trainer.model import Forecast, Question
from grandstand.apps.trainer.pages.forms import given_of, scores_of, token_of
from grandstand.apps.trainer.service import AnswerRefused, GivenAnswer

_NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
_QUESTIONS = (
    Question("q1", "What is assumed?", "long", 100, ("logic",)),
    Question("q2", "How likely is it?", "short", 50, ("logic",), None, Forecast("It rains")),
)


def test_every_question_gets_what_was_written_to_it() -> None:
    texts = {"answer.q1": "That it holds", "answer.q2": "Hardly", "probability.q2": " 30 "}

    given = given_of(texts, _QUESTIONS, _NOW)

    assert given.answers == (
        GivenAnswer("q1", "That it holds"),
        GivenAnswer("q2", "Hardly", 30),
    )


@pytest.mark.parametrize("text", ["likely", "1.5", "-3", "\uff13"])
def test_a_probability_that_is_no_number_is_refused_by_its_field(text: str) -> None:
    with pytest.raises(AnswerRefused) as refused:
        given_of({"probability.q2": text}, _QUESTIONS, _NOW)

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
    given = given_of({"seconds": seconds, "opened": opened}, _QUESTIONS, _NOW)

    assert given.duration_seconds == counted


def test_only_scores_that_differ_are_asked_for() -> None:
    texts = {"score.logic": "3", "score.clarity": "2", "score.evidence": "much"}

    assert scores_of(texts, {"logic": 1, "clarity": 2, "evidence": 0}) == {"logic": 3}


def test_a_form_without_a_token_has_none() -> None:
    assert token_of({}) is None
    assert token_of({"token": "abc"}) == "abc"
