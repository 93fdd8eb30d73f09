"""That key templates tell which texts they fit and what their placeholders stand for."""

import pytest

from tests.specification.templates import fields_of, placeholders, slug


def test_placeholders_come_in_order() -> None:
    names = placeholders("{bookmaker}#{market_key}#{timestamp}")

    assert names == ("bookmaker", "market_key", "timestamp")


@pytest.mark.parametrize(
    ("template", "text", "fields"),
    [
        ("GAME#{game_id}", "GAME#abc123", {"game_id": "abc123"}),
        ("RESULT", "RESULT", {}),
        ("match:{matchId}", "match:42", {"matchId": "42"}),
        ("{day}#{id}", "2026-02-11T22:00:00Z#x", {"day": "2026-02-11T22:00:00Z", "id": "x"}),
    ],
)
def test_a_fitting_text_gives_its_fields(template: str, text: str, fields: dict[str, str]) -> None:
    found = fields_of(template, text)

    assert found == fields


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("GAME#{game_id}", "GAME#"),
        ("GAME#{game_id}", "GAME#a#b"),
        ("GAME#{game_id}", "game#a"),
        ("RESULT", "RESULTS"),
        ("a.c", "abc"),
    ],
)
def test_another_text_does_not_fit(template: str, text: str) -> None:
    found = fields_of(template, text)

    assert found is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Los Angeles Lakers", "los_angeles_lakers"),
        ("St. Louis  Blues", "st_louis_blues"),
        ("76ers!", "76ers"),
    ],
)
def test_a_slug_is_lower_case_words_joined_by_underscores(name: str, text: str) -> None:
    found = slug(name)

    assert found == text
