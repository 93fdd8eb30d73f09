"""What a form about alerts means, and how a choice is shown in it."""

from datetime import UTC, datetime, timedelta

import pytest

from grandstand.apps.cricket.domain.alerts import AlertPreferences
from grandstand.apps.cricket.domain.match_events import ALERTING
from grandstand.apps.cricket.pages.handlers import (
    enabled_kinds,
    parse_alert_form,
    selected_mute,
)

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_who_chose_nothing_sees_what_alerts_by_itself() -> None:
    usual, own = AlertPreferences(), AlertPreferences(("six",))

    assert enabled_kinds(usual) == ALERTING
    assert enabled_kinds(own) == ("six",)


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        (AlertPreferences(), "off"),
        (AlertPreferences(muted=True), "on"),
        (AlertPreferences(muted_until=NOON - HOUR), "off"),
        (AlertPreferences(muted_until=NOON + HOUR), "hour"),
        (AlertPreferences(muted_until=NOON + 3 * HOUR), "night"),
    ],
)
def test_a_choice_of_muting_is_shown_as_long_as_it_holds(
    choice: AlertPreferences, shown: str
) -> None:
    assert selected_mute(choice, NOON) == shown


@pytest.mark.parametrize(
    ("mute", "muted", "until"),
    [
        ("off", False, None),
        ("on", True, None),
        ("hour", False, NOON + HOUR),
        ("night", False, NOON + 8 * HOUR),
        ("for ever and a day", False, None),
    ],
)
def test_a_form_means_what_it_says(mute: str, muted: bool, until: datetime | None) -> None:  # noqa: FBT001 - a case
    usual = parse_alert_form(("six",), mute, NOON, use_defaults=True)
    own = parse_alert_form(("six",), mute, NOON, use_defaults=False)

    assert usual == (None, muted, until)
    assert own == (("six",), muted, until)
