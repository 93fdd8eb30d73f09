"""Takes the pictures of the documentation from the demo with a real browser.

`scripts/screenshots` starts it; `scripts/screenshots home cricket` takes only those.
"""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.parts import chromium, font
from tests.parts.part_cache import PartCache

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "pictures"
MOST_BYTES: Final = 150_000

_TIMEOUT_SECONDS: Final = 420.0
_REST_SECONDS: Final = 3.0
# By then odds have moved, balls were bowled, and charts have something to show.
_SETTLE_SECONDS: Final = 240.0
_ARGUMENTS: Final = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")

# WebP is written by the browser itself: no other library is needed.
_AS_WEBP: Final = """async ([picture, quality]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/webp', quality).split(',')[1];
}"""
_ANSWER: Final = (
    "The two groups were not alike before: whoever signs up has more to gain. Without a group "
    "chosen by lot, a third of the difference could be selection alone. At a base rate of 2 in 100 "
    "and a test that errs in 5 of 100, of 1,000 people about 19 are found rightly and 49 wrongly: "
    "a hit is right in roughly 28 of 100 cases. I would ask how many were approached, how many "
    "said no, and for a second, independent measure before I act."
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A page: the way there, an element and a text it must show, and a text it must not."""

    name: str
    way: Callable[[Page, str], None]
    shows: str
    says: str = "Simulated"
    lacks: str = "\0"

    def fits(self, page: Page) -> bool:
        """Whether the page is as it should be on the picture."""
        said = page.locator("body").inner_text()
        there = page.locator(self.shows).count() > 0
        return there and self.says in said and self.lacks not in said


def _at(path: str) -> Callable[[Page, str], None]:
    def go(page: Page, address: str) -> None:
        page.goto(f"{address}{path}")

    return go


def _first(path: str, link: str) -> Callable[[Page, str], None]:
    """Go to the first page a list leads to."""

    def go(page: Page, address: str) -> None:
        page.goto(f"{address}{path}")
        found = page.locator(f"main {link}").first
        if found.count():
            page.goto(f"{address}{found.get_attribute('href')}")

    return go


def _judged(page: Page, address: str) -> None:
    """Submit an answer once and open its result."""
    page.goto(f"{address}/trainer/history")
    if not page.locator('main a[href^="/trainer/attempts/"]').count():
        known = page.request.get(f"{address}/api/trainer/suggestion").json()["suggestion"]
        if known is None:
            return
        asked = known["scenario"]["questions"]
        answers = [
            {"questionId": question["questionId"], "answer": _ANSWER}
            | ({"probabilityPercent": 35} if question.get("forecast") else {})
            for question in asked
        ]
        given = {"scenarioId": known["scenario"]["scenarioId"], "answers": answers}
        page.request.post(f"{address}/api/trainer/attempts", data=given)
    _first("/trainer/history", 'a[href^="/trainer/attempts/"]')(page, address)


PICTURES: Final = (
    Picture(
        "keiba",
        _first("/keiba", 'a[href^="/keiba/races/"]'),
        "#runners tbody tr",
        lacks="Loading the card",
    ),
    Picture("trainer", _judged, "main h1", says="of 100"),
    Picture(
        "bets",
        _first("/bets", 'a[href^="/bets/games/"]'),
        "chart-plot",
        lacks="No picks for this game",
    ),
    Picture(
        "gatherer",
        _first("/gatherer", 'a[href^="/gatherer/markets/"]'),
        "order-ladder",
        lacks="none recorded",
    ),
    Picture("cricket", _first("/cricket", 'a[href^="/cricket/matches/"]'), "main h1", says="live"),
    Picture("home", _at("/"), ".app-card .headline"),
)


@contextmanager
def demo(home: Path) -> Iterator[str]:
    """Run the demo for the length of a block and return its address."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GRANDSTAND_")
    }
    environment |= {"GRANDSTAND_HOME": str(home), "GRANDSTAND_LOG_LEVEL": "error"}
    server = subprocess.Popen(
        [sys.executable, "-m", "grandstand", "up", "--port", "0"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield _address(server)
    finally:
        server.terminate()
        server.communicate(timeout=60)


def _address(server: subprocess.Popen[str]) -> str:
    for line in server.stderr or ():
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found[0]
    raise SystemExit("The demo did not start")


def take(browser: Browser, address: str, picture: Picture) -> bytes:
    """Take a picture once its page shows what it must; end the program when it never does."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900},
        reduced_motion="reduce",
        color_scheme="light",
        timezone_id="UTC",
    )
    page, until = context.new_page(), time.monotonic() + _TIMEOUT_SECONDS
    while True:
        picture.way(page, address)
        page.wait_for_load_state("load")
        if picture.fits(page):
            break
        if time.monotonic() > until:
            raise SystemExit(f"{picture.name}: {page.url} is not as it should be")
        time.sleep(_REST_SECONDS)
    page.wait_for_timeout(1500)
    taken = page.screenshot()
    context.close()
    return taken


def as_webp(browser: Browser, png: bytes) -> bytes:
    """Return a picture as WebP, as good as its size allows."""
    page = browser.new_page()
    for quality in (0.9, 0.8, 0.65, 0.5):
        given = [base64.b64encode(png).decode(), quality]
        made = base64.b64decode(page.evaluate(_AS_WEBP, given))
        if len(made) <= MOST_BYTES:
            break
    page.close()
    return made


def main(names: list[str]) -> None:
    """Take the pictures of those names, all when none is given."""
    unknown = set(names) - {picture.name for picture in PICTURES}
    if unknown:
        raise SystemExit(f"There is no picture {', '.join(sorted(unknown))}")
    FOLDER.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    keeper = PartCache(may_fetch=True)
    program, seen_with = chromium.find(keeper), {"XDG_DATA_HOME": str(font.find(keeper))}
    with TemporaryDirectory() as home, demo(Path(home)) as address, sync_playwright() as driver:
        time.sleep(_SETTLE_SECONDS)
        browser = driver.chromium.launch(
            executable_path=program, args=list(_ARGUMENTS), env={**os.environ, **seen_with}
        )
        for picture in PICTURES:
            if not names or picture.name in names:
                made = as_webp(browser, take(browser, address, picture))
                (FOLDER / f"{picture.name}.webp").write_bytes(made)
                sys.stdout.write(f"{picture.name}.webp: {len(made) // 1000} kB\n")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
