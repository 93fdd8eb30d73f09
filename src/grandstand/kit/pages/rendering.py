"""Rendering pages from templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from grandstand.core import formatting
from grandstand.core.clock import Clock
from grandstand.core.formatting import EMPTY, TimeForm, format_age, format_time
from grandstand.kit.auth.caller import Caller, Preferences
from grandstand.kit.charts import sparkline
from grandstand.kit.pages.assets import Assets
from grandstand.kit.problems import ProblemDetails, request_id_of

CONTENT_POLICY: Final = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; "
    "form-action 'self'"
)

PAGE_HEADERS: Final = {
    "content-security-policy": CONTENT_POLICY,
    "cache-control": "private, no-cache",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def time_tag(moment: datetime | None, zone: str, form: TimeForm = "moment") -> Markup:
    """Return a `<time>` element."""
    if moment is None:
        return Markup(EMPTY)  # noqa: S704 - a constant
    return _tag(moment, zone, "", format_time(moment, zone, form))


def age_tag(moment: datetime | None, now: datetime, zone: str) -> Markup:
    """Return a `<time>` element with an age that the page keeps current."""
    if moment is None:
        return Markup(EMPTY)  # noqa: S704 - a constant
    return _tag(moment, zone, " data-ago", format_age(moment, now))


def _tag(moment: datetime, zone: str, ago: str, text: str) -> Markup:
    full = f"{format_time(moment, zone, 'second')} {zone}"
    written = moment.isoformat(timespec="milliseconds")
    form = Markup(f'<time{ago} datetime="{{}}" title="{{}}">{{}}</time>')  # noqa: S704 - as above
    return form.format(written, full, text)


THEMES: Final = ("system", "light", "dark")
THEME_COOKIE: Final = "grandstand_theme"
KIT_TEMPLATES: Final = Path(__file__).parent / "templates" / "kit"

_ADVICE: Final = {
    0: "Go back, correct the input and try again.",
    401: "Log in with an account that has access.",
    403: "Ask an administrator for access.",
    404: "It may have moved or been deleted. Try the search or the home page.",
    409: "Reload the page to see the current state, then try again.",
    429: "Wait a moment, then reload the page.",
    500: "Reload the page. If the problem persists, contact the administrator.",
    502: "Reload the page in a while. The status page shows every source.",
    503: "Reload the page in a while. The status page shows every source.",
}
_TITLES: Final = {
    401: "Log in first",
    403: "Not allowed",
    404: "Not found",
    409: "Conflict with the current state",
    422: "Check your input",
    429: "Too many requests",
    500: "Something went wrong",
    502: "A data source failed",
    503: "Not available now",
}
"""The headings of error pages, by status; the details are below them."""


@dataclass(frozen=True, slots=True)
class NavSection:
    """A navigation entry: an app's name and title.

    If its source is simulated, `simulated` says how to connect the real one. `more` labels further
    pages.
    """

    name: str
    title: str
    purpose: str = ""
    simulated: str = ""
    more: str = "More"

    @property
    def href(self) -> str:
        """The path of the app's pages."""
        return f"/{self.name}"


@dataclass(frozen=True, slots=True)
class Links:
    """What pages need from the platform: CSRF tokens and live message numbers."""

    csrf: Callable[[Request], str]
    number: Callable[[str], int]


class Pages:
    """Renders templates: the kit's under `kit/`, those of each folder under its name."""

    def __init__(
        self,
        assets: Assets,
        sections: Sequence[NavSection],
        folders: Mapping[str, Path],
        clock: Clock,
        links: Links,
    ) -> None:
        self.assets = assets
        self.sections = tuple(sections)
        self._clock = clock
        self._links = links
        self._env = _env({"kit": KIT_TEMPLATES, **folders}, assets, links)

    def render(
        self,
        request: Request,
        template: str,
        *,
        status: int = 200,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> HTMLResponse:
        """Render a page."""
        context = self._shared(request) | {"section": template.partition("/")[0]} | values
        text = self._env.get_template(template).render(context)
        return HTMLResponse(text, status, PAGE_HEADERS)

    def problem(self, request: Request, what: ProblemDetails) -> Response:
        """Render an error page."""
        known = request.scope.get("state", {}).get("caller") is not None
        advice = _ADVICE.get(what.status, _ADVICE[500] if what.status >= 500 else _ADVICE[0])
        if what.status == 401 and not known:
            advice = "Log in to continue."
        if what.kind == "form-refused":
            advice = "Go back: your input is still there."
        name = request.url.path.split("/")[1]
        within = next((section for section in self.sections if section.name == name), None)
        response = self.render(
            request,
            "kit/problem.html",
            status=what.status,
            section=within.name if within else "platform",
            title=_TITLES.get(what.status, what.title),
            problem=what,
            request_id=request_id_of(request.scope),
            next=advice,
            within=within,
        )
        response.headers.update({"cache-control": "no-store", **(what.headers or {})})
        return response

    def _shared(self, request: Request) -> dict[str, Any]:
        caller = request.scope.get("state", {}).get("caller")
        known = caller if isinstance(caller, Caller) else None
        return {
            "request": request,
            "path": request.url.path,
            "caller": known,
            "preferences": known.preferences if known else Preferences(),
            "theme": theme_of(request),
            "sections": self.sections if known else (),
            "now": self._clock.now(),
            "csrf": partial(self._links.csrf, request),
            "notice": "",
            "query": request.query_params,
        }


def theme_of(request: Request) -> str:
    """Return the color scheme the user chose, or `system`."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "system"


def safe_return(address: str | None) -> str:
    """Return a path to go back to, or the home page if it leads to another site.

    Browsers take a second slash or a backslash for the start of a host name.
    """
    text = address or "/"
    parts = urlsplit(text)
    ours = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if ours and not parts.scheme and not parts.netloc else "/"


def _env(folders: Mapping[str, Path], assets: Assets, links: Links) -> Environment:
    loader = PrefixLoader({name: FileSystemLoader(folder) for name, folder in folders.items()})
    env = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.globals |= {
        "static": assets.url,
        "live": partial(_live, links),
        "sparkline": sparkline,
    }
    env.filters |= {
        "when": _when,
        "age": _age,
        "local_times": _local_times,
        "odds": _odds,
        "number": formatting.format_number,
        "percent": formatting.format_percent,
        "browser": formatting.describe_browser,
        "bytes": formatting.format_bytes,
        "duration": formatting.format_duration,
        "sentence": formatting.as_sentence,
    }
    return env


def _live(links: Links, *topics: str) -> Markup:
    """Return the attributes that make an element follow topics."""
    numbers = " ".join(str(links.number(topic)) for topic in topics)
    return Markup('data-topic="{}" data-number="{}"').format(" ".join(topics), numbers)


@pass_context
def _when(
    context: Context, moment: datetime | None, form: formatting.TimeForm = "moment"
) -> Markup:
    return time_tag(moment, context["preferences"].time_zone, form)


@pass_context
def _age(context: Context, moment: datetime | None) -> Markup:
    return age_tag(moment, context["now"], context["preferences"].time_zone)


@pass_context
def _local_times(context: Context, text: str) -> str:
    return formatting.localize_times(text, context["preferences"].time_zone)


@pass_context
def _odds(context: Context, decimal_odds: formatting.Number | None) -> str:
    return formatting.format_odds(decimal_odds, context["preferences"].odds_format)
