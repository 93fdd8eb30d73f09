"""Quotes are found in answers, and answers are cut where quotes begin and end."""

from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.trainer.pages.result_view import (
    QuotedPassage,
    QuoteSpan,
    RationaleLine,
    find_quote,
    first_quote,
    split_reason,
    split_text,
)

_TEXT = "One thing is sure. Another\nis not."


def test_a_quote_is_found_word_for_word() -> None:
    assert find_quote(_TEXT, "thing is sure") == (4, 17)


def test_a_quote_is_found_however_its_words_are_spaced() -> None:
    start, end = find_quote(_TEXT, "Another is  not") or (0, 0)

    assert _TEXT[start:end] == "Another\nis not"


def test_what_is_not_there_is_not_found() -> None:
    assert find_quote(_TEXT, "nothing of the kind") is None
    assert find_quote(_TEXT, "") is None


def test_quotes_that_overlap_share_a_piece() -> None:
    found = [QuoteSpan(0, 9, 1, "a"), QuoteSpan(4, 17, 2, "b")]

    cut = split_text(_TEXT, found)

    assert [(each.text, each.dimensions) for each in cut[:3]] == [
        ("One ", (1,)),
        ("thing", (1, 2)),
        (" is sure", (2,)),
    ]
    assert [each.anchors for each in cut[:3]] == [("a",), ("b",), ()]
    assert [each.ends for each in cut[:3]] == [(), (1,), (2,)]


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(1, 8)), max_size=6),
)
def test_the_pieces_are_the_text_whatever_is_quoted(
    text: str, places: list[tuple[int, int, int]]
) -> None:
    inside = [[*sorted((min(a, len(text)), min(b, len(text)))), n] for a, b, n in places]
    found = [QuoteSpan(start, end, number, "x") for start, end, number in inside]

    cut = split_text(text, found)

    assert "".join(each.text for each in cut) == text


def test_a_reason_is_taken_apart_around_what_it_quotes() -> None:
    text = "A condition is stated: “If it rains”, twice"
    passage = QuotedPassage(first_quote(text), "passage-3-1")

    assert split_reason(text, passage) == RationaleLine(
        "A condition is stated: ", passage, ", twice"
    )
    assert split_reason("It quotes nothing", None) == RationaleLine("It quotes nothing")
