"""Page of a racing day, and the language switch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Final

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.pages.base import SITE_ERRORS, KeibaPage
from grandstand.apps.keiba.pages.i18n import LANGUAGE_COOKIE, LANGUAGES
from grandstand.apps.keiba.services.page_cache import now_to_second, today_in_japan
from grandstand.apps.keiba.services.race_days import Day, DayRace, Meeting
from grandstand.kit.pages.page import form_fields, redirect_to
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.routes import page

_YEAR_SECONDS: Final = 365 * 24 * 3600
_CIRCUITS: Final[tuple[Circuit, ...]] = ("jra", "nar")
_NEARBY_DAYS: Final = 4


@dataclass(frozen=True, slots=True)
class NextRace:
    """The race of a day that starts next."""

    meeting: Meeting
    race: DayRace
    off_at: datetime


class DayPages(KeibaPage):
    """The races of a day by track; the next racing day by default."""

    @page("")
    async def day(self, request: Request) -> Response:
        """The day given as `date`, else the next racing day in Japan."""
        query = request.query_params
        circuit = _parse_circuit(query.get("circuit", ""))
        today = today_in_japan(self._keiba.clock)
        try:
            race_date = (
                _parse_date(query.get("date", ""))
                or await self._keiba.days.next_meeting(circuit)
                or today
            )
            day = await self._keiba.days.day(race_date, circuit)
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        days = await self._racing_days(race_date, circuit or main_circuit(day))
        now = now_to_second(self._keiba.clock)
        return self._render(
            request,
            "day",
            here="races",
            day=day,
            circuit=circuit,
            days=_nearby_days(days, race_date),
            previous_day=max((each for each in days if each < race_date), default=None),
            next_day=min((each for each in days if each > race_date), default=None),
            next_race=next_race(day, now),
            has_started=lambda race: race.off_at is not None and race.off_at < now,
            today=today,
        )

    @page("/days/{race_date}/refresh", method="POST")
    async def refresh_day(self, request: Request, race_date: Annotated[date, Path()]) -> Response:
        """Fetch a day's lists again."""
        fetched = self._keiba.days.day(race_date, refresh=True)
        return await self._refresh(request, fetched, f"/keiba?date={race_date}")

    @page("/language", method="POST")
    async def set_language(self, request: Request) -> Response:
        """Set the language of the labels."""
        fields = await form_fields(request)
        response = redirect_to(safe_return(fields.get("back")))
        if fields.get("language") in LANGUAGES:
            response.set_cookie(
                LANGUAGE_COOKIE,
                fields["language"],
                max_age=_YEAR_SECONDS,
                path="/keiba",
                samesite="lax",
                httponly=True,
            )
        return response

    async def _racing_days(self, day: date, circuit: Circuit) -> tuple[date, ...]:
        """Return the racing days around a day; empty if the site is unavailable."""
        try:
            return (await self._keiba.days.meeting_days(day, circuit)).value
        except SITE_ERRORS:
            return ()


def next_race(day: Day, now: datetime) -> NextRace | None:
    """Return the first race of a day that has not started."""
    upcoming = [
        NextRace(meeting, race, race.off_at)
        for meeting in day.meetings
        for race in meeting.races
        if race.off_at is not None and race.off_at >= now
    ]
    return min(upcoming, key=lambda race: race.off_at, default=None)


def main_circuit(day: Day) -> Circuit:
    """Return the circuit whose racing days are offered: JRA if it races on this day."""
    return day.meetings[0].circuit if day.meetings else "jra"


def _nearby_days(days: Iterable[date], day: date) -> tuple[date, ...]:
    """Return a few racing days before and after a day, and the day itself."""
    known = sorted({*days, day})
    at = known.index(day)
    return tuple(known[max(at - _NEARBY_DAYS, 0) : at + _NEARBY_DAYS + 1])


def _parse_circuit(text: str) -> Circuit | None:
    return next((circuit for circuit in _CIRCUITS if circuit == text), None)


def _parse_date(text: str) -> date | None:
    """Return the date of a link or form; None if it is invalid or centuries away."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if abs(day - date(2000, 1, 1)) < timedelta(days=73_000) else None
