"""Which race of a day is next."""

from dataclasses import replace
from datetime import date, datetime, timedelta

from grandstand.apps.keiba.domain.races import RaceEntry
from grandstand.apps.keiba.pages.races import main_circuit, next_race
from grandstand.apps.keiba.services.page_cache import JST
from grandstand.apps.keiba.services.race_days import Day, DayRace, Meeting

SUNDAY = date(2026, 11, 15)
NOON = datetime(2026, 11, 15, 12, tzinfo=JST)


def _meeting(track: str, *minutes: int | None) -> Meeting:
    """A track with races so many minutes after noon."""
    races = tuple(
        DayRace(
            RaceEntry(track, number, f"2026050504{number:02}"),
            None if after is None else NOON + timedelta(minutes=after),
        )
        for number, after in enumerate(minutes, start=1)
    )
    return Meeting(track, None, "jra", 5, 4, None, None, None, races)


def test_the_next_race_is_the_soonest_of_all_tracks_that_is_not_off() -> None:
    day = Day(SUNDAY, (_meeting("東京", -30, 20, 50), _meeting("京都", -5, 10, 40)), ())

    found = next_race(day, NOON)

    assert found is not None
    assert (found.meeting.track_name, found.race.entry.race_number) == ("京都", 2)


def test_a_race_that_is_off_this_very_minute_is_still_next() -> None:
    found = next_race(Day(SUNDAY, (_meeting("東京", 0, 30),), ()), NOON)

    assert found is not None
    assert found.race.entry.race_number == 1


def test_a_day_that_is_over_or_has_no_times_has_no_next_race() -> None:
    assert next_race(Day(SUNDAY, (_meeting("東京", -60, None),), ()), NOON) is None


def test_one_goes_on_by_national_days_unless_only_local_tracks_race() -> None:
    national = _meeting("東京", 10)
    local = replace(_meeting("大井", 20), circuit="nar")

    assert main_circuit(Day(SUNDAY, (national, local), ())) == "jra"
    assert main_circuit(Day(SUNDAY, (local,), ())) == "nar"
    assert main_circuit(Day(SUNDAY, (), ())) == "jra"
