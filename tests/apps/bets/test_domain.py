"""Slugs and matchup keys."""

import pytest

from grandstand.apps.bets.domain.records import matchup_key, slug


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Los Angeles Lakers", "los_angeles_lakers"),
        ("los_angeles_lakers", "los_angeles_lakers"),
        ("Atlético Madrid", "atletico_madrid"),
        ("1. FC Köln", "1_fc_koln"),
        ("St. John's (NY)", "st_john_s_ny"),
    ],
)
def test_a_slug_is_small_letters_and_underscores(name: str, written: str) -> None:
    assert slug(name) == written


def test_a_pairing_is_the_same_from_both_sides() -> None:
    assert (
        matchup_key("Boston Celtics", "Los Angeles Lakers") == "boston_celtics#los_angeles_lakers"
    )
    assert (
        matchup_key("Los Angeles Lakers", "Boston Celtics") == "boston_celtics#los_angeles_lakers"
    )
