"""What the settings choose reaches the rules."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from grandstand.apps.cricket.domain.live_activities import Lifetimes
from grandstand.apps.cricket.domain.match_events import Thresholds
from grandstand.apps.cricket.services import lifetimes_from, thresholds_from
from grandstand.apps.cricket.settings import CricketSettings


def test_without_a_choice_the_rules_are_the_usual_ones() -> None:
    usual = CricketSettings()

    assert thresholds_from(usual) == Thresholds()
    assert lifetimes_from(usual) == Lifetimes()


def test_what_is_chosen_is_used_in_order() -> None:
    chosen = CricketSettings(
        hundreds=(200, 100),
        boundary_cooldown_seconds=7,
        restart_minutes=120,
        start_again_seconds=30,
    )

    thresholds, lifetimes = thresholds_from(chosen), lifetimes_from(chosen)

    assert thresholds.hundreds == (100, 200)
    assert (thresholds.cooldown_seconds["six"], thresholds.cooldown_seconds["four"]) == (7, 7)
    assert lifetimes.restart_gap == timedelta(seconds=30)
    assert lifetimes.restart_after == lifetimes.restart_in_breaks_after == timedelta(hours=2)


def test_an_activity_cannot_be_planned_beyond_what_ios_allows() -> None:
    with pytest.raises(ValidationError, match="restart_minutes"):
        CricketSettings(restart_minutes=480)
