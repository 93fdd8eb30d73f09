"""Kept here: how a page is made from a template, the request, and what every page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import (
    Environment,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    pass_context,
)
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from grandstand.base.clock import Clock
from grandstand.kit.charts import sparkline
from grandstand.kit.pages import shown
from grandstand.kit.pages.assets import Assets
from grandstand.kit.pages.policy import PAGE_HEADERS
from grandstand.kit.problems import Told, request_id_of
from grandstand.kit.who.caller import Caller, Preferences

THEMES: Final = ("system", "light", "dark")
THEME_COOKIE: Final = "grandstand_theme"
KIT_TEMPLATES: Final = Path(__file__).parent / "templates" / "kit"

_NOBODY: Final = Preferences()
_NOBODY_THERE: Final = 401
_FAULT: Final = 500
_NEXT: Final = {
    0: "Go back, change what was sent, and try once more.",
    401: "Log in again with an account that may.",
    403: "Ask an administrator, or go back to what is yours.",
    404: "It may have moved or been deleted. Look for it from the home page, or search for it.",
    409: "Load the page again to see how it stands now, then try once more.",
    429: "Wait a little, then load the page again.",
    500: "Load the page again. If it stays so, tell whoever runs this house.",
    502: "Load the page again in a while; the status page tells how every source is.",
    503: "Load the page again in a while; the status page tells how every source is.",
}
_NEXT_BY_KIND: Final = {
    "form-refused": "Go back: what you wrote is still there.",
}
_TITLES: Final = {
    401: "Log in first",
    403: "Not allowed",
    404: "Not found",
    409: "That does not fit",
    422: "Something is not right yet",
    429: "Too often",
    500: "Something broke here",
    502: "A source did not answer well",
    503: "Not to be had now",
}
"""What people are told an answer means; what exactly it was is told below it."""


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation: an application's name (its accent and mark) and title.

    Where its source is simulated, `simulated` says in a line how to connect the real one, and
    `more` what else there is to see of it.
    """

    name: str
    title: str
    purpose: str = ""
    simulated: str = ""
    more: str = "More"

    @property
    def href(self) -> str:
        """Where its pages are."""
        return f"/{self.name}"


@dataclass(frozen=True, slots=True)
class Links:
    """What pages count on from the rest of the house.

    `csrf` answers the token a form of this request carries; `number` the number of a topic's last
    news, as `Hub.number` does.
    """

    csrf: Callable[[Request], str]
    number: Callable[[str], int]


class Pages:
    """Makes pages: templates of the kit under `kit/`, those of each folder under its name."""

    def __init__(
        self,
        assets: Assets,
        sections: Sequence[Section],
        folders: Mapping[str, Path],
        clock: Clock,
        links: Links,
    ) -> None:
        self.assets = assets
        self.sections = tuple(sections)
        self._clock = clock
        self._links = links
        self._environment = _environment({"kit": KIT_TEMPLATES, **folders}, assets, links)

    def render(
        self,
        request: Request,
        template: str,
        *,
        status: int = 200,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> HTMLResponse:
        """Answer the page; raises jinja2's own errors, for a template that fails is our fault."""
        context = self._shared(request) | {"section": template.partition("/")[0]} | values
        text = self._environment.get_template(template).render(context)
        return HTMLResponse(text, status, PAGE_HEADERS)

    def problem(self, request: Request, what: Told) -> Response:
        """Answer an error as a page that says what to do next."""
        known = request.scope.get("state", {}).get("caller") is not None
        words = _NEXT.get(what.status, _NEXT[500] if what.status >= _FAULT else _NEXT[0])
        if what.status == _NOBODY_THERE and not known:
            words = "Log in to go on."
        words = _NEXT_BY_KIND.get(what.kind, words)
        within = self._section_of(request)
        response = self.render(
            request,
            "kit/problem.html",
            status=what.status,
            section=within.name if within else "house",
            title=_TITLES.get(what.status, what.title),
            problem=what,
            request_id=request_id_of(request.scope),
            next=words,
            within=within,
        )
        response.headers.update({"cache-control": "no-store", **(what.headers or {})})
        return response

    def _section_of(self, request: Request) -> Section | None:
        """The application whose pages an address belongs to."""
        name = request.url.path.split("/")[1]
        return next((one for one in self.sections if one.name == name), None)

    def _shared(self, request: Request) -> dict[str, Any]:
        caller = request.scope.get("state", {}).get("caller")
        known = caller if isinstance(caller, Caller) else None
        return {
            "request": request,
            "path": request.url.path,
            "caller": known,
            "preferences": known.preferences if known else _NOBODY,
            "theme": theme_of(request),
            "sections": self.sections if known else (),
            "now": self._clock.now(),
            "csrf": partial(self._links.csrf, request),
            "said": "",
            "query": request.query_params,
        }


def theme_of(request: Request) -> str:
    """Answer the colour scheme a person chose; `system` when none."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "system"


def safe_return(address: str | None) -> str:
    """Answer an address to go back to if it is a path of ours, else the home page.

    Browsers take a second slash or a backslash for the start of another site's name.
    """
    text = address or "/"
    parts = urlsplit(text)
    ours = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if ours and not parts.scheme and not parts.netloc else "/"


def _environment(folders: Mapping[str, Path], assets: Assets, links: Links) -> Environment:
    loader = PrefixLoader({name: FileSystemLoader(folder) for name, folder in folders.items()})
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"static": assets.url, "live": partial(_live, links), "sparkline": sparkline}
    made.filters |= {
        "when": _when,
        "age": _age,
        "local_times": _local_times,
        "odds": _odds,
        "number": shown.number,
        "percent": shown.percent,
        "browser": shown.browser,
        "bytes": shown.byte_size,
        "duration": shown.duration,
        "sentence": shown.sentence,
    }
    return made


def _live(links: Links, *topics: str) -> Markup:
    """The attributes that make an element follow topics from what this page already shows."""
    heard = " ".join(str(links.number(topic)) for topic in topics)
    return Markup('data-topic="{}" data-heard="{}"').format(" ".join(topics), heard)


@pass_context
def _when(context: Context, moment: datetime | None, form: shown.TimeForm = "moment") -> Markup:
    return shown.time_tag(moment, context["preferences"].time_zone, form)


@pass_context
def _age(context: Context, moment: datetime | None) -> Markup:
    return shown.age_tag(moment, context["now"], context["preferences"].time_zone)


@pass_context
def _local_times(context: Context, text: str) -> str:
    return shown.local_times(text, context["preferences"].time_zone)


@pass_context
def _odds(context: Context, decimal_odds: shown.Number | None) -> str:
    return shown.odds(decimal_odds, context["preferences"].odds_format)
