"""A real browser for the tests of pages, and the gallery it looks at."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, ViewportSize, expect, sync_playwright

from tests.pages.app_server import AppServer, OpenAppContext
from tests.pages.browser_page import BrowserPage
from tests.pages.cricket_server import CricketServer
from tests.pages.gallery import open_gallery
from tests.pages.keiba_server import KeibaServer
from tests.pages.platform_server import PlatformServer
from tests.pages.trainer_server import TrainerServer

# Nothing but this machine has a name here, so a stray request cannot get out.
_ARGUMENTS = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")

# Nothing here has to be quick: on a busy machine a page may take its time.
_PATIENCE_MILLISECONDS = 60_000

Look = Callable[..., BrowserPage]


def _as_long_as_nobody_minds(
    fixture_name: str,  # noqa: ARG001 - pytest names it
    config: pytest.Config,
) -> Literal["session", "module"]:
    """While playwright's event loop runs asynchronous tests cannot, and there are none here."""
    asked = (config.invocation_params.dir / each.partition("::")[0] for each in config.args)
    here = all(path.resolve().is_relative_to(Path(__file__).parent) for path in asked)
    return "session" if here else "module"


@pytest.fixture(scope=_as_long_as_nobody_minds)
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        expect.set_options(timeout=_PATIENCE_MILLISECONDS)
        opened = playwright.chromium.launch(executable_path=chromium, args=list(_ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def gallery() -> Iterator[AppServer]:
    served = AppServer(open_gallery)
    served.start()
    yield served
    served.stop()


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """A platform without accounts, whose owner need not log in."""
    yield from _served(PlatformServer(tmp_path_factory.mktemp("platform"), accounts=False))


@pytest.fixture(scope="session")
def locked_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """A platform with an account, so that everybody has to log in."""
    yield from _served(PlatformServer(tmp_path_factory.mktemp("locked"), accounts=True))


@pytest.fixture(scope="session")
def training(tmp_path_factory: pytest.TempPathFactory) -> TrainerServer:
    """How a platform is opened in which somebody has practised, and what they did there."""
    return TrainerServer(tmp_path_factory.mktemp("training"))


@pytest.fixture(scope="session")
def practised(training: TrainerServer) -> Iterator[AppServer]:
    """That platform, whose owner need not log in."""
    yield from _served(training)


@pytest.fixture(scope="session")
def racing(tmp_path_factory: pytest.TempPathFactory) -> KeibaServer:
    """How a platform is opened whose keiba reads the simulated race site."""
    return KeibaServer(tmp_path_factory.mktemp("racing"))


@pytest.fixture(scope="session")
def raced(racing: KeibaServer) -> Iterator[AppServer]:
    """That platform, whose owner need not log in."""
    yield from _served(racing)


@pytest.fixture(scope="session")
def cricketing(tmp_path_factory: pytest.TempPathFactory) -> CricketServer:
    """How a platform is opened in which matches are played, and the feed they come from."""
    return CricketServer(tmp_path_factory.mktemp("cricketing"))


@pytest.fixture(scope="session")
def played(cricketing: CricketServer) -> Iterator[AppServer]:
    """That platform, whose owner need not log in."""
    yield from _served(cricketing)


def _served(home: OpenAppContext) -> Iterator[AppServer]:
    served = AppServer(home)
    served.start()
    yield served
    served.stop()


@pytest.fixture
def look(browser: Browser, axe: Path) -> Iterator[Look]:
    """Opens pages, each in a context of its own; options are those of a context."""
    contexts = []

    def opened(url: str, **options: Any) -> BrowserPage:
        size = ViewportSize(width=options.pop("width", 1280), height=800)
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        contexts.append(context)
        context.set_default_timeout(_PATIENCE_MILLISECONDS)
        return BrowserPage(context.new_page(), url, axe)

    yield opened
    for context in contexts:
        context.close()
