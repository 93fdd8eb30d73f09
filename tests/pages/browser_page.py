"""A page of a real browser, and everything it must not do: talk to the console or to strangers."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request, ViewportSize, expect

_PATIENCE_SECONDS = 60.0
# Only what is wrong is put into words and handed over: the rest is most of an answer.
_AXE = """(rules) => axe.run(document, { reporter: 'no-passes', ...rules }).then(
  ({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary])
  )
)"""
_ALL: dict[str, object] = {}
# The rules of the category of colours that axe follows by itself.
_COLOURS: dict[str, object] = {"runOnly": ["color-contrast", "link-in-text-block"]}

Scheme: TypeAlias = Literal["light", "dark"]
View: TypeAlias = tuple[int, tuple[Scheme, ...]]

# Widths change where things are and schemes what colours they have, so each is looked at once.
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
        self.page.on("request", self._asked)
        self.page.on("websocket", lambda opened: self._strange(opened.url))

    def go(self, path: str) -> None:
        self.page.goto(f"{self.url}{path}")

    def until(self, expression: str) -> None:
        """Wait until an expression is true; the browser may not poll it, for that needs eval."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(50)

    def barriers(self, rules: dict[str, object] = _ALL) -> list[str]:
        """What axe finds wrong, one line each; by all of its rules, or by some."""
        if self.page.evaluate("typeof axe") == "undefined":
            self.page.evaluate(f"{self.axe.read_text(encoding='utf-8')};0")
        found: list[list[str]] = self.page.evaluate(_AXE, rules)
        return [f"{rule}: {html[:200]} {summary}" for rule, html, summary in found]

    def barriers_in_both_schemes(self) -> list[str]:
        """What axe finds wrong in the light, and with the colours of the dark, on one load."""
        self.page.emulate_media(color_scheme="light")
        light = self.barriers()
        self.page.emulate_media(color_scheme="dark")
        return light + [f"in the dark: {line}" for line in self.barriers(_COLOURS)]

    def faults(self, path: str, views: Iterable[View] = EVERY_VIEW) -> list[str]:
        """What is wrong with a page that is loaded anew for every width it is looked at in.

        That are barriers, a line that does not fit, errors and warnings on the console, and whoever
        was asked away from home.
        """
        found: list[str] = []
        for width, schemes in views:
            self.page.set_viewport_size(ViewportSize(width=width, height=800))
            self.go(path)
            expect(self.page.locator("h1")).to_be_visible()
            for scheme in schemes:
                self.page.emulate_media(color_scheme=scheme)
                found += [f"{width} pixels, {scheme}: {line}" for line in self.barriers()]
            found += [f"{width} pixels: {each} too wide" for each in [self.overflow()] if each]
        return found + self.console + [f"asked {url}" for url in self.foreign]

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        wider: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return wider

    def _record_message(self, message: ConsoleMessage) -> None:
        """Record errors and warnings; Chromium's verbose hints differ from version to version."""
        if message.type in ("error", "warning"):
            self.console.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        self._strange(request.url)

    def _strange(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.foreign.append(url)
