"""What is sought is found by a part of its name, the nearest first."""

import pytest

from grandstand.kit.text_search import best_matches, match_rank


@pytest.mark.parametrize(
    ("sought", "rank"),
    [
        ("los angeles lakers", 0),
        ("Los  Ang", 1),
        ("lakers", 2),
        ("lakers los", 2),
        ("ngeles", 3),
        ("la", 2),
        ("ge", None),
        ("celtics", None),
        ("lakers celtics", None),
        ("  ", None),
        ("-", None),
    ],
)
def test_a_name_is_as_near_as_what_is_sought_stands_in_it(sought: str, rank: int | None) -> None:
    assert match_rank(sought, "Los Angeles Lakers") == rank


@pytest.mark.parametrize(
    ("sought", "text"),
    [
        ("atletico", "Atl\u00e9tico Madrid"),
        ("\u3059\u305f\u3093\u3069", "\u30b9\u30bf\u30f3\u30c9\u30d3\u30e5\u30fc"),
        ("\u30d3\u30e5", "\u30b9\u30bf\u30f3\u30c9\u30d3\u30e5\u30fc"),
        ("\uff2c\uff21\uff2c", "KXNBA-26NOV17LALBOS"),
    ],
    ids=["accents", "hiragana", "inside a name", "wide letters"],
)
def test_another_way_of_writing_is_found_too(sought: str, text: str) -> None:
    assert match_rank(sought, text) is not None


def test_a_voiced_letter_is_another_letter() -> None:
    assert match_rank("\u30cf\u30cf", "\u30d0\u30d0") is None


def test_the_nearest_come_first_and_no_more_than_asked_for() -> None:
    things = ["Bold Rule", "Rule", "Unruled", "Rules of Play", "Other"]

    found = best_matches("rule", things, lambda one: (one,), 3)

    assert found == ("Rule", "Rules of Play", "Bold Rule")
