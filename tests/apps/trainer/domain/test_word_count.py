"""Words are counted the way a reader would."""

import pytest

from grandstand.apps.trainer.domain.evaluation import word_count


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  \n ", 0),
        ("It doesn't follow.", 3),
        ("1,200 of 3.5 million – so what?", 6),
        ("well-known, state-of-the-art", 2),
        ("日本 の 競馬", 3),
        ("__ -- ..", 0),
    ],
)
def test_words_are_runs_of_letters_and_digits(text: str, words: int) -> None:
    assert word_count(text) == words
