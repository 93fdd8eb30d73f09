"""What a new application may be called."""

import pytest

from grandstand.base.errors import InvalidInput
from grandstand.host.scaffold.naming import AppNameTaken, named


def test_words_are_made_from_the_name() -> None:
    new = named("tides", purpose="When water rises")

    assert (new.kind, new.constant, new.title) == ("Tides", "TIDES", "Tides")
    assert new.purpose == "When water rises."


@pytest.mark.parametrize("name", ["", "ab", "Tides", "high_tides", "tides2", "class", "a" * 17])
def test_a_name_is_one_word_of_small_letters(name: str) -> None:
    with pytest.raises(InvalidInput, match="one word"):
        named(name)


@pytest.mark.parametrize("name", ["bets", "tables", "status", "server", "json", "house", "live"])
def test_a_name_the_house_uses_is_taken(name: str) -> None:
    with pytest.raises(AppNameTaken):
        named(name)


@pytest.mark.parametrize("purpose", ['"quoted"', "{{ markup }}", "$name", "a\nb", "a" * 60])
def test_a_purpose_stands_in_code_and_pages_and_so_is_plain(purpose: str) -> None:
    with pytest.raises(InvalidInput):
        named("tides", purpose=purpose)
