"""Base class of the keiba pages, and formatting shared by them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import Path
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.horses import PastRun
from grandstand.apps.keiba.domain.races import Runner
from grandstand.apps.keiba.domain.ranking import Reason
from grandstand.apps.keiba.pages.i18n import Locale, locale_of
from grandstand.apps.keiba.services import Keiba
from grandstand.apps.keiba.services.page_cache import Origin
from grandstand.apps.keiba.services.race_days import DayRace
from grandstand.core.errors import (
    GrandstandError,
    LimitReached,
    NotFound,
    SourceFailed,
    Unavailable,
)
from grandstand.core.formatting import EMPTY, format_number
from grandstand.kit.pages.page import AppPages, redirect_to
from grandstand.kit.pages.rendering import Pages
from grandstand.net.errors import RobotsDisallowed

RaceId = Annotated[str, Path(max_length=40)]
HorseId = Annotated[str, Path(max_length=40)]
JockeyId = Annotated[str, Path(max_length=40)]

SITE_ERRORS: Final = (SourceFailed, Unavailable, LimitReached, RobotsDisallowed)
"""Errors of a site that is unavailable, off limits, or returned garbage."""

STRIP_RUNS: Final = 5


def number_badge(horse_number: int | None, frame: int | None) -> Markup:
    """Render a horse's number in the cap color of its frame; empty before the draw."""
    if horse_number is None:
        return Markup()
    css_class = f"cap cap-{frame}" if frame in range(1, 9) else "cap"
    return Markup('<span class="{}">{}</span>').format(css_class, horse_number)


def japanese_text(text: str | None) -> Markup:
    """Render a text of the site, marked as Japanese."""
    if text is None:
        return Markup(EMPTY)  # noqa: S704 - a constant
    return Markup('<span lang="ja">{}</span>').format(text)


def format_finish(run: PastRun, t: Locale) -> str:
    """Return the position of a run, or an abbreviation such as PU (pulled up)."""
    if run.position is not None:
        return str(run.position)
    return t.term("short_outcome", run.outcome) or EMPTY


def render_form_strip(runs: Sequence[PastRun], t: Locale) -> Markup:
    """Render a horse's last finishing positions, newest first."""
    last = runs[:STRIP_RUNS]
    if not last:
        return Markup('<span class="muted">{}</span>').format(EMPTY)
    description = ", ".join(
        f"{format_finish(run, t)}/{run.runner_count}" if run.runner_count else format_finish(run, t)
        for run in last
    )
    chips = Markup("").join(
        Markup('<i class="{}">{}</i>').format(_strip_class(run), format_finish(run, t))
        for run in last
    )
    return Markup('<span class="strip" role="img" aria-label="{}: {}">{}</span>').format(
        t.w["form_of"], description, chips
    )


def _strip_class(run: PastRun) -> str:
    if run.position is None:
        return "run-none"
    return f"run-{run.position}" if run.position <= 3 else "run-other"


def format_sex_age(runner: Runner, t: Locale) -> str:
    """Return sex and age as usual in the language: 牡3, or horse, 3."""
    sex, age = t.term("sex", runner.sex), "" if runner.age is None else str(runner.age)
    return (f"{sex}{age}" if t.japanese else ", ".join(filter(None, (sex, age)))) or EMPTY


def format_body_weight(runner: Runner) -> str:
    """Return a runner's body weight and its change."""
    if runner.body_weight is None:
        return EMPTY
    if runner.body_weight_change is None:
        return str(runner.body_weight)
    return f"{runner.body_weight} ({format_number(runner.body_weight_change, signed=True)})"


def format_win_odds(odds: Decimal | float | None) -> str:
    """Return decimal odds with one digit."""
    return EMPTY if odds is None else format_number(odds, 1)


def sort_reasons(reasons: Sequence[Reason]) -> list[Reason]:
    """Return the reasons of a rank, most important first."""
    return sorted(reasons, key=lambda reason: -abs(reason.points))


def format_points(value: float) -> str:
    """Return ranking points with a sign and one digit; "0" for none."""
    return format_number(value, 1, signed=True) if round(value, 1) else "0"


def host_of(page: str) -> str:
    """Return the host name of a page's URL."""
    return urlsplit(page).hostname or page


_TEMPLATE_FUNCTIONS: Final[dict[str, Any]] = {
    "format_body_weight": format_body_weight,
    "format_finish": format_finish,
    "format_points": format_points,
    "format_sex_age": format_sex_age,
    "format_win_odds": format_win_odds,
    "host_of": host_of,
    "japanese_text": japanese_text,
    "number_badge": number_badge,
    "sort_reasons": sort_reasons,
}


class KeibaPage(AppPages):
    """Base class of a group of pages."""

    def __init__(self, keiba: Keiba, pages: Pages) -> None:
        super().__init__(pages, "keiba", _TEMPLATE_FUNCTIONS)
        self._keiba = keiba

    def _render(
        self,
        request: Request,
        template: str,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> Response:
        locale: Locale = values.pop("t", None) or locale_of(request)
        return super()._render(request, template, t=locale, w=locale.w, **values)

    async def _meeting_races(self, race_date: date | None, race_id: str) -> tuple[DayRace, ...]:
        """Return the races of the same track and day; empty if the day's list is unavailable."""
        circuit = ids.circuit_of(race_id)
        if race_date is None or circuit == "overseas":
            return ()
        try:
            day = await self._keiba.days.day(race_date, circuit)
        except (*SITE_ERRORS, NotFound):
            return ()
        for meeting in day.meetings:
            if any(race.entry.race_id == race_id for race in meeting.races):
                return meeting.races
        return ()

    async def _refresh(self, request: Request, page: Awaitable[object], href: str) -> Response:
        """Await a refreshed page and redirect to `href`."""
        try:
            await page
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        return redirect_to(href)

    def _unavailable(self, request: Request, error: GrandstandError) -> Response:
        """Render the page that says why the site is unavailable."""
        return self._render(
            request,
            "unavailable",
            status=error.status,
            here="races",
            error=str(error) or type(error).__name__,
        )


def distinct_origins(*origins: Origin | None) -> tuple[Origin, ...]:
    """Return the origins that are not None, each page once."""
    return tuple({origin.page: origin for origin in origins if origin is not None}.values())
