"""What a form about alerts means, and how a choice is shown in it."""

from datetime import UTC, datetime, timedelta

import pytest

from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.apps.cricket.model.events.kinds import ALERTING
from grandstand.apps.cricket.pages.mine import chosen, given_of, mute_of
from grandstand.apps.cricket.service import AlertsGiven

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_who_chose_nothing_sees_what_alerts_by_itself() -> None:
    usual, own = AlertChoice(), AlertChoice(frozenset({"six"}))

    assert chosen(usual) == ALERTING
    assert chosen(own) == {"six"}


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        (AlertChoice(), "off"),
        (AlertChoice(muted=True), "on"),
        (AlertChoice(muted_until=NOON - HOUR), "off"),
        (AlertChoice(muted_until=NOON + HOUR), "hour"),
        (AlertChoice(muted_until=NOON + 3 * HOUR), "night"),
    ],
)
def test_a_choice_of_muting_is_shown_as_long_as_it_holds(choice: AlertChoice, shown: str) -> None:
    assert mute_of(choice, NOON) == shown


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
    usual = given_of(("six",), mute, NOON, usual=True)
    own = given_of(("six",), mute, NOON, usual=False)

    assert usual == AlertsGiven(None, muted, until)
    assert own == AlertsGiven(("six",), muted, until)
