"""A page in a real browser, with checks for accessibility, console messages and foreign hosts."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request, ViewportSize, expect

_TIMEOUT_SECONDS = 60.0
# Return only violations; the rest is most of the result.
_AXE = """(rules) => axe.run(document, { reporter: 'no-passes', ...rules }).then(
  ({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary])
  )
)"""
_ALL: dict[str, object] = {}
# The rules that depend on colors.
_COLOR_RULES: dict[str, object] = {"runOnly": ["color-contrast", "link-in-text-block"]}

Scheme: TypeAlias = Literal["light", "dark"]
View: TypeAlias = tuple[int, tuple[Scheme, ...]]

# The layout depends on the width and colors on the scheme, so two combinations cover both.
EVERY_VIEW: tuple[View, ...] = ((360, ("light",)), (1280, ("dark",)))


@dataclass
class BrowserPage:
    """One open page with its console errors and warnings and the foreign hosts it requested."""

    page: Page
    url: str
    axe: Path
    console: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._record_message)
        self.page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        self.page.on("request", self._on_request)
        self.page.on("websocket", lambda opened: self._check_host(opened.url))

    def go(self, path: str) -> None:
        self.page.goto(f"{self.url}{path}")

    def until(self, expression: str) -> None:
        """Wait until an expression is true. The CSP forbids eval, so it is polled from here."""
        end = time.monotonic() + _TIMEOUT_SECONDS
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(50)

    def violations(self, rules: dict[str, object] = _ALL) -> list[str]:
        """Return the violations axe finds, by all rules or by some."""
        if self.page.evaluate("typeof axe") == "undefined":
            self.page.evaluate(f"{self.axe.read_text(encoding='utf-8')};0")
        found: list[list[str]] = self.page.evaluate(_AXE, rules)
        return [f"{rule}: {html[:200]} {summary}" for rule, html, summary in found]

    def violations_in_both_schemes(self) -> list[str]:
        """Return the violations in light mode, and those of colors in dark mode."""
        self.page.emulate_media(color_scheme="light")
        light = self.violations()
        self.page.emulate_media(color_scheme="dark")
        return light + [f"dark mode: {line}" for line in self.violations(_COLOR_RULES)]

    def faults(self, path: str, views: Iterable[View] = EVERY_VIEW) -> list[str]:
        """Load a page at each width and return its faults.

        Faults are accessibility violations, overflow, console errors and warnings, and requests
        to other hosts.
        """
        found: list[str] = []
        for width, schemes in views:
            self.page.set_viewport_size(ViewportSize(width=width, height=800))
            self.go(path)
            expect(self.page.locator("h1")).to_be_visible()
            for scheme in schemes:
                self.page.emulate_media(color_scheme=scheme)
                found += [f"{width} pixels, {scheme}: {line}" for line in self.violations()]
            found += [
                f"{width} pixels: {pixels} too wide" for pixels in [self.overflow()] if pixels
            ]
        return found + self.console + [f"requested {url}" for url in self.foreign]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        wider: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return wider

    def _record_message(self, message: ConsoleMessage) -> None:
        """Record errors and warnings; Chromium's verbose hints differ from version to version."""
        if message.type in ("error", "warning"):
            self.console.append(f"{message.type}: {message.text}")

    def _on_request(self, request: Request) -> None:
        self._check_host(request.url)

    def _check_host(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.foreign.append(url)
