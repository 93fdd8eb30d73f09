"""A walk from home along every link, which looks at a page or two of each shape."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Response
from starlette.routing import BaseRoute, Match, Mount, Route

from grandstand.kit.routes import AppRoute
from tests.pages.browser_page import BrowserPage

HOME = "/"
# A page that is made by others: it is looked at like every page, but not with axe.
DOCUMENTS = "/api/docs"
_REFUSED = 400
_FILES = (".csv", ".js", ".json", ".swift", f"{DOCUMENTS}/{{name}}")

# Where a page leads: its links, and forms that only ask, sent as they are. A place on the page
# itself leads nowhere else, but must be there.
_LEADS = """() => {
  const leads = { links: [], lacks: [] };
  if (!document.querySelector('h1, #api')) leads.lacks.push('a heading');
  for (const link of document.querySelectorAll('a[href]')) {
    const [said, to] = [link.getAttribute('href'), new URL(link.href)];
    if (said.startsWith('#')) {
      const place = decodeURIComponent(to.hash.slice(1));
      if (place && !document.getElementById(place)) leads.lacks.push(said);
    } else {
      leads.links.push(to.href.split('#')[0]);
    }
  }
  for (const form of document.querySelectorAll('form:not([method=post])')) {
    const to = new URL(form.getAttribute('action') ?? location.href, document.baseURI);
    to.search = new URLSearchParams(new FormData(form)).toString();
    leads.links.push(to.href.split('#')[0]);
  }
  return leads;
}"""

Shape: TypeAlias = tuple[str, frozenset[str]]


@dataclass
class Crawler:
    """One walk: the pages and files it came to, each with its route, and what was wrong there."""

    watched: BrowserPage
    routes: Sequence[BaseRoute]
    faults: list[str] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    _now: str = HOME
    _shapes: Counter[Shape] = field(default_factory=Counter)
    _known: set[str] = field(default_factory=set)
    _looked_at: set[str] = field(default_factory=lambda: {DOCUMENTS})
    _ahead: deque[str] = field(default_factory=deque)

    def __post_init__(self) -> None:
        page = self.watched.page
        page.on("response", self._answered)
        page.on("requestfailed", lambda request: self._failed(request.url, request.failure))

    def walk(self) -> None:
        """Go from home along every link until nothing new is ahead."""
        self._put([HOME])
        while self._ahead:
            self._now = self._ahead.popleft()
            self._visit(self._now)

    def _visit(self, path: str) -> None:
        route = self._route_of(path)
        if route is None:
            self._wrong("no route leads there")
        elif not _is_page(route):
            self.files[path] = route.path
            answer = self.watched.page.request.get(f"{self.watched.url}{path}")
            self._wrong(*[f"answered {answer.status}"] * (answer.status >= _REFUSED))
        else:
            self.pages[path] = route.path
            self.watched.go(path)
            self._look(route.path)

    def _look(self, route: str) -> None:
        """Note what is wrong with the page that is open, and where it leads."""
        watched = self.watched
        leads: dict[str, list[str]] = watched.page.evaluate(_LEADS)
        if route not in self._looked_at:
            self._looked_at.add(route)
            self._wrong(*watched.barriers_in_both_schemes())
        self._wrong(*(f"lacks {each}" for each in leads["lacks"]))
        self._wrong(*(f"{each} pixels too wide" for each in [watched.overflow()] if each))
        self._wrong(*watched.console, *(f"asked {url}" for url in watched.foreign))
        watched.console.clear()
        watched.foreign.clear()
        self._put(leads["links"])

    def _put(self, addresses: Iterable[str]) -> None:
        """Note what to visit yet; what leads away from the platform is not visited."""
        for address in addresses:
            path = address.removeprefix(self.watched.url)
            if path in self._known or not path.startswith("/"):
                continue
            shape, most = self._shape(path)
            if self._now == HOME or self._shapes[shape] < most:
                self._known.add(path)
                self._shapes[shape] += 1
                self._ahead.append(path)

    def _shape(self, path: str) -> tuple[Shape, int]:
        """Return the shape of a page, and how many of it are visited.

        Those are two, and one where a query only asks the same page otherwise. All tables are
        sorted, searched and turned over alike: once for each route is enough.
        """
        parts, route = urlsplit(path), self._route_of(path)
        names = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
        of_table = any("." in name for name in names)
        kinds = frozenset({"."} if of_table else names)
        return (route.path if route else path, kinds), 1 if names else 2

    def _route_of(self, path: str) -> Route | Mount | None:
        scope = {"type": "http", "method": "GET", "path": urlsplit(path).path, "headers": []}
        known = (route for route in self.routes if isinstance(route, Route | Mount))
        return next((route for route in known if route.matches(scope)[0] is Match.FULL), None)

    def _answered(self, answer: Response) -> None:
        if answer.status >= _REFUSED:
            self._wrong(f"{answer.url} answered {answer.status}")

    def _failed(self, url: str, why: str | None) -> None:
        # A page may be left before all it asked for has come.
        if why != "net::ERR_ABORTED":
            self._wrong(f"{url} failed: {why}")

    def _wrong(self, *lines: str) -> None:
        self.faults += [f"{self._now}: {line}" for line in lines]


def page_routes(routes: Iterable[BaseRoute]) -> set[str]:
    """Return the routes that answer pages."""
    return {route.path for route in routes if isinstance(route, Route) and _is_page(route)}


def _is_page(route: Route | Mount) -> bool:
    if route.path == DOCUMENTS:
        return True
    marked = isinstance(route, AppRoute) and route.spec.html and route.spec.method == "GET"
    return marked and not route.path.endswith(_FILES)
