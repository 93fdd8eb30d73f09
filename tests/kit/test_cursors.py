"""Cursors: opaque, signed, and good for one question of one person."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from grandstand.kit.auth.caller import LOCAL_OWNER, Caller
from grandstand.kit.cursors import Cursors, InvalidCursor, Page

ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
CURSORS = Cursors(b"a secret of the platform")


@given(some.text(), some.text())
def test_whoever_got_a_cursor_can_go_on_with_it(question: str, position: str) -> None:
    cursor = CURSORS.write(ADA, question, position)

    assert CURSORS.read(ADA, question, cursor) == position


def test_no_position_is_no_cursor_and_no_cursor_is_no_position() -> None:
    assert CURSORS.write(ADA, "games", None) is None
    assert CURSORS.read(ADA, "games", None) is None


def test_page_signs_the_position_of_the_next_page() -> None:
    page = CURSORS.page(ADA, "games", ["a", "b"], "row 2")

    assert page.items == ("a", "b")
    assert CURSORS.read(ADA, "games", page.cursor) == "row 2"
    assert CURSORS.page(ADA, "games", [], None) == Page(())


@pytest.mark.parametrize(
    ("cursors", "caller", "question"),
    [
        (CURSORS, LOCAL_OWNER, "games"),
        (CURSORS, ADA, "races"),
        (Cursors(b"another secret"), ADA, "games"),
    ],
)
def test_a_cursor_is_refused_to_others_for_other_questions_and_by_other_houses(
    cursors: Cursors, caller: Caller, question: str
) -> None:
    cursor = CURSORS.write(ADA, "games", "row 20")

    with pytest.raises(InvalidCursor):
        cursors.read(caller, question, cursor)


@given(some.text())
def test_garbage_is_refused_in_one_way(text: str) -> None:
    with pytest.raises(InvalidCursor):
        CURSORS.read(ADA, "games", text)


def test_a_changed_position_is_refused() -> None:
    cursor = CURSORS.write(ADA, "games", "row 20")
    assert cursor is not None

    with pytest.raises(InvalidCursor):
        CURSORS.read(ADA, "games", cursor[:-2] + "__")
