"""A page of a real browser, and everything it must not do: talk to the console or to strangers."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request

_PATIENCE_SECONDS = 60.0
_AXE = "axe.run(document, { resultTypes: ['violations'] })"


@dataclass
class Watched:
    """One open page with what it said and whom it asked."""

    page: Page
    url: str
    axe: Path
    console: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda said: self.console.append(f"{said.type}: {said.text}"))
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

    def barriers(self) -> list[str]:
        """What axe finds wrong, one line each."""
        if self.page.evaluate("typeof axe") == "undefined":
            self.page.evaluate(f"{self.axe.read_text(encoding='utf-8')};0")
        found: dict[str, Any] = self.page.evaluate(_AXE)
        return [
            f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]

    def barriers_in_both_schemes(self) -> list[str]:
        """What axe finds wrong in the light and in the dark, on one load of the page."""
        self.page.emulate_media(color_scheme="light")
        light = self.barriers()
        self.page.emulate_media(color_scheme="dark")
        return light + [f"in the dark: {line}" for line in self.barriers()]

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        wider: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return wider

    def _asked(self, request: Request) -> None:
        self._strange(request.url)

    def _strange(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.foreign.append(url)
