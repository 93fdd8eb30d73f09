"""Crawler that follows every link from home and checks one or two pages per route."""

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
# Third-party page: it is checked like all others, but not with axe.
API_DOCS = "/api/docs"
_FIRST_ERROR_STATUS = 400
_FILES = (".csv", ".js", ".json", ".swift", f"{API_DOCS}/{{name}}")

# Collect links and GET forms as submitted. Anchors on the same page must exist.
_COLLECT_LINKS = """() => {
  const result = { links: [], missing: [] };
  if (!document.querySelector('h1, #api')) result.missing.push('a heading');
  for (const link of document.querySelectorAll('a[href]')) {
    const [href, to] = [link.getAttribute('href'), new URL(link.href)];
    if (href.startsWith('#')) {
      const place = decodeURIComponent(to.hash.slice(1));
      if (place && !document.getElementById(place)) result.missing.push(href);
    } else {
      result.links.push(to.href.split('#')[0]);
    }
  }
  for (const form of document.querySelectorAll('form:not([method=post])')) {
    const to = new URL(form.getAttribute('action') ?? location.href, document.baseURI);
    to.search = new URLSearchParams(new FormData(form)).toString();
    result.links.push(to.href.split('#')[0]);
  }
  return result;
}"""

Shape: TypeAlias = tuple[str, frozenset[str]]


@dataclass
class Crawler:
    """One crawl: the visited pages and files with their routes, and the faults found."""

    page: BrowserPage
    routes: Sequence[BaseRoute]
    faults: list[str] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    _current: str = HOME
    _shapes: Counter[Shape] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set)
    _checked_routes: set[str] = field(default_factory=lambda: {API_DOCS})
    _queue: deque[str] = field(default_factory=deque)

    def __post_init__(self) -> None:
        page = self.page.page
        page.on("response", self._on_response)
        page.on("requestfailed", lambda request: self._on_failure(request.url, request.failure))

    def run(self) -> None:
        """Visit every link from home."""
        self._enqueue([HOME])
        while self._queue:
            self._current = self._queue.popleft()
            self._visit(self._current)

    def _visit(self, path: str) -> None:
        route = self._route_of(path)
        if route is None:
            self._add_faults("no route matches")
        elif not _is_page(route):
            self.files[path] = route.path
            response = self.page.page.request.get(f"{self.page.url}{path}")
            self._add_faults(
                *[f"status {response.status}"] * (response.status >= _FIRST_ERROR_STATUS)
            )
        else:
            self.pages[path] = route.path
            self.page.go(path)
            self._check(route.path)

    def _check(self, route: str) -> None:
        """Check the open page and enqueue its links."""
        page = self.page
        links: dict[str, list[str]] = page.page.evaluate(_COLLECT_LINKS)
        if route not in self._checked_routes:
            self._checked_routes.add(route)
            self._add_faults(*page.violations_in_both_schemes())
        self._add_faults(*(f"{missing} is missing" for missing in links["missing"]))
        self._add_faults(*(f"{pixels} pixels too wide" for pixels in [page.overflow()] if pixels))
        self._add_faults(*page.console, *(f"requested {url}" for url in page.foreign))
        page.console.clear()
        page.foreign.clear()
        self._enqueue(links["links"])

    def _enqueue(self, addresses: Iterable[str]) -> None:
        """Add addresses of this platform to the queue."""
        for address in addresses:
            path = address.removeprefix(self.page.url)
            if path in self._seen or not path.startswith("/"):
                continue
            shape, limit = self._shape(path)
            if self._current == HOME or self._shapes[shape] < limit:
                self._seen.add(path)
                self._shapes[shape] += 1
                self._queue.append(path)

    def _shape(self, path: str) -> tuple[Shape, int]:
        """Return route and query parameters of a path, and how many pages like it to visit.

        Two per route, and one for each set of query parameters. All tables sort, search and page
        in the same way, so their parameters count as one.
        """
        parts, route = urlsplit(path), self._route_of(path)
        names = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
        of_table = any("." in name for name in names)
        kinds = frozenset({"."} if of_table else names)
        return (route.path if route else path, kinds), 1 if names else 2

    def _route_of(self, path: str) -> Route | Mount | None:
        scope = {"type": "http", "method": "GET", "path": urlsplit(path).path, "headers": []}
        routes = (route for route in self.routes if isinstance(route, Route | Mount))
        return next((route for route in routes if route.matches(scope)[0] is Match.FULL), None)

    def _on_response(self, response: Response) -> None:
        if response.status >= _FIRST_ERROR_STATUS:
            self._add_faults(f"{response.url}: status {response.status}")

    def _on_failure(self, url: str, reason: str | None) -> None:
        # The crawler may leave a page before everything has loaded.
        if reason != "net::ERR_ABORTED":
            self._add_faults(f"{url} failed: {reason}")

    def _add_faults(self, *lines: str) -> None:
        self.faults += [f"{self._current}: {line}" for line in lines]


def page_routes(routes: Iterable[BaseRoute]) -> set[str]:
    """Return the paths of the routes that return pages."""
    return {route.path for route in routes if isinstance(route, Route) and _is_page(route)}


def _is_page(route: Route | Mount) -> bool:
    if route.path == API_DOCS:
        return True
    marked = isinstance(route, AppRoute) and route.spec.html and route.spec.method == "GET"
    return marked and not route.path.endswith(_FILES)
