"""Kept here: the page of a day's racing, and the switch between the two languages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.model import Circuit
from grandstand.apps.keiba.pages.part import AWAY, PagesPart
from grandstand.apps.keiba.pages.tongue import LANGUAGE_COOKIE, LANGUAGES
from grandstand.apps.keiba.service import Day, DayRace, Meeting
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.routes import page

_YEAR_SECONDS: Final = 365 * 24 * 3600
_CIRCUITS: Final[tuple[Circuit, ...]] = ("jra", "nar")
_REACH: Final = 4


@dataclass(frozen=True, slots=True)
class NextRace:
    """The race that is off next on a day."""

    meeting: Meeting
    race: DayRace
    off_at: datetime


class DayPages(PagesPart):
    """The races of a day by track, opening on the next day of racing."""

    @page("")
    async def day(self, request: Request) -> Response:
        """The day asked for as `date`, else the next day of racing in Japan."""
        query = request.query_params
        circuit = _circuit(query.get("circuit", ""))
        asked = _date(query.get("date", ""))
        try:
            day = asked or await self._keiba.next_meeting(circuit) or self._keiba.today()
            held = await self._keiba.day(day, circuit)
        except AWAY as error:
            return self._away(request, error)
        days = await self._days(day, circuit or first_circuit(held))
        now = self._keiba.now()
        return self._render(
            request,
            "day",
            here="races",
            day=held,
            circuit=circuit,
            days=_near(days, day),
            earlier=max((one for one in days if one < day), default=None),
            later=min((one for one in days if one > day), default=None),
            next_race=next_race(held, now),
            over=lambda race: race.off_at is not None and race.off_at < now,
            today=self._keiba.today(),
        )

    @page("/language", method="POST")
    async def switch(self, request: Request) -> Response:
        """Choose the language of the labels, and lead back."""
        texts = await texts_of(request)
        answer = lead_to(safe_return(texts.get("back")))
        if texts.get("language") in LANGUAGES:
            answer.set_cookie(
                LANGUAGE_COOKIE,
                texts["language"],
                max_age=_YEAR_SECONDS,
                path="/keiba",
                samesite="lax",
                httponly=True,
            )
        return answer

    async def _days(self, day: date, circuit: Circuit) -> tuple[date, ...]:
        """The days of racing around one; none when the site does not say, for the day is shown."""
        try:
            return (await self._keiba.meeting_days(day, circuit)).value
        except AWAY:
            return ()


def next_race(day: Day, now: datetime) -> NextRace | None:
    """Answer the first race of a day that is not off yet."""
    coming = [
        NextRace(meeting, race, race.off_at)
        for meeting in day.meetings
        for race in meeting.races
        if race.off_at is not None and race.off_at >= now
    ]
    return min(coming, key=lambda one: one.off_at, default=None)


def _near(days: Iterable[date], day: date) -> tuple[date, ...]:
    """The few days around one, and itself."""
    known = sorted({*days, day})
    at = known.index(day)
    return tuple(known[max(at - _REACH, 0) : at + _REACH + 1])


def first_circuit(day: Day) -> Circuit:
    """The circuit whose days one goes on by: the national one wherever it races."""
    return day.meetings[0].circuit if day.meetings else "jra"


def _circuit(text: str) -> Circuit | None:
    return next((circuit for circuit in _CIRCUITS if circuit == text), None)


def _date(text: str) -> date | None:
    """The date a form or a link asks for; nonsense asks for none."""
    try:
        asked = date.fromisoformat(text)
    except ValueError:
        return None
    return asked if abs(asked - date(2000, 1, 1)) < timedelta(days=73_000) else None
