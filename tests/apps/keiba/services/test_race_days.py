"""Days of racing: which is next, and what is run where and when."""

from datetime import date, datetime, timedelta

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable
from grandstand.apps.keiba.services.page_cache import JST
from grandstand.simulators.malformed import MalformedReply
from tests.apps.keiba.stage import NOON, SUNDAY, Stage

pytestmark = pytest.mark.anyio

MONDAY = date(2026, 11, 16)
NEXT_SATURDAY = date(2026, 11, 21)


async def test_a_day_has_the_meetings_of_both_circuits_with_post_times(sunday: Stage) -> None:
    day = await sunday.keiba.days.day(SUNDAY)

    tracks = [(each.track_name, each.track_english, each.circuit) for each in day.meetings]
    assert tracks[:3] == [
        ("東京", "Tokyo", "jra"),
        ("京都", "Kyoto", "jra"),
        ("福島", "Fukushima", "jra"),
    ]
    assert {each.circuit for each in day.meetings[3:]} == {"nar"}
    assert day.meetings[2].races[10].entry.race_id == sunday.small
    assert day.meetings[2].races[10].off_at == datetime(2026, 11, 15, 15, 40, tzinfo=JST)
    assert [origin.state for origin in day.origins] == ["fetched", "fetched"]
    assert len(sunday.requested()) == 2


async def test_one_circuit_costs_one_page(sunday: Stage) -> None:
    day = await sunday.keiba.days.day(SUNDAY, "nar")

    assert {each.circuit for each in day.meetings} == {"nar"}
    assert len(sunday.requested()) == 1


async def test_a_list_that_cannot_be_had_is_a_warning_while_the_other_can(sunday: Stage) -> None:
    sunday.site.malformed.ask_for(MalformedReply("truncated", "/nar/"))

    day = await sunday.keiba.days.day(SUNDAY)

    assert {each.circuit for each in day.meetings} == {"jra"}
    assert "NAR race list missing" in day.warnings[0]
    sunday.site.malformed.ask_for(MalformedReply("truncated"))
    with pytest.raises(PageUnreadable):
        await sunday.keiba.days.day(SUNDAY + timedelta(days=6))


async def test_a_day_without_racing_has_no_meetings(sunday: Stage) -> None:
    day = await sunday.keiba.days.day(SUNDAY + timedelta(days=3), "jra")

    assert (day.meetings, day.warnings) == ((), ())


async def test_today_is_the_next_meeting_until_its_last_race_is_over(sunday: Stage) -> None:
    noon = await sunday.keiba.days.next_meeting("jra")
    sunday.clock.advance(7 * 3600)

    evening = await sunday.keiba.days.next_meeting("jra")

    assert (noon, evening) == (SUNDAY, NEXT_SATURDAY)


async def test_local_races_of_today_come_before_the_next_national_meeting(sunday: Stage) -> None:
    on_sunday = await sunday.keiba.days.next_meeting()
    sunday.clock.advance(86_400)

    on_monday = await sunday.keiba.days.next_meeting()

    monday = await sunday.keiba.days.day(MONDAY)
    assert (on_sunday, on_monday) == (SUNDAY, MONDAY)
    assert {each.circuit for each in monday.meetings} == {"nar"}


async def test_a_circuit_that_cannot_be_asked_is_passed_over_while_the_other_can(
    sunday: Stage,
) -> None:
    sunday.clock.advance(86_400)
    sunday.site.malformed.ask_for(MalformedReply("empty", "/nar/"))

    national = await sunday.keiba.days.next_meeting()

    assert national == NEXT_SATURDAY
    sunday.site.malformed.ask_for(MalformedReply("empty"))
    sunday.clock.advance(86_400)
    with pytest.raises(PageUnreadable):
        await sunday.keiba.days.next_meeting()


async def test_the_days_around_a_day_are_in_order(sunday: Stage) -> None:
    days = await sunday.keiba.days.meeting_days(SUNDAY)

    assert SUNDAY in days.value
    assert NEXT_SATURDAY in days.value
    assert list(days.value) == sorted(days.value)


async def test_the_next_race_is_known_from_kept_lists_alone(sunday: Stage) -> None:
    nothing = await sunday.keiba.days.next_race()
    await sunday.keiba.days.day(SUNDAY)
    asked = len(sunday.requested())

    coming = await sunday.keiba.days.next_race()

    assert nothing is None
    assert coming is not None
    assert coming.off_at is not None
    assert timedelta() < coming.off_at - NOON < timedelta(hours=1)
    assert len(sunday.requested()) == asked
