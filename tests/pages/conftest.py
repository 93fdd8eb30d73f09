"""Fixtures for page tests: a real browser and running platforms."""

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

# No other host name resolves, so that no request leaves this machine.
_ARGUMENTS = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")

# Long, because a page may be slow on a busy machine.
_TIMEOUT_MILLISECONDS = 60_000

Look = Callable[..., BrowserPage]


def _browser_scope(
    fixture_name: str,  # noqa: ARG001 - pytest names it
    config: pytest.Config,
) -> Literal["session", "module"]:
    """Return `session` if only page tests run: asynchronous tests cannot run beside Playwright."""
    paths = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    here = all(path.resolve().is_relative_to(Path(__file__).parent) for path in paths)
    return "session" if here else "module"


@pytest.fixture(scope=_browser_scope)
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        expect.set_options(timeout=_TIMEOUT_MILLISECONDS)
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
    """A platform without accounts."""
    yield from _served(PlatformServer(tmp_path_factory.mktemp("platform"), accounts=False))


@pytest.fixture(scope="session")
def locked_platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """A platform with an account, so that everybody has to sign in."""
    yield from _served(PlatformServer(tmp_path_factory.mktemp("locked"), accounts=True))


@pytest.fixture(scope="session")
def training(tmp_path_factory: pytest.TempPathFactory) -> TrainerServer:
    """A platform with attempts of several weeks."""
    return TrainerServer(tmp_path_factory.mktemp("training"))


@pytest.fixture(scope="session")
def practised(training: TrainerServer) -> Iterator[AppServer]:
    """The same platform, running, without accounts."""
    yield from _served(training)


@pytest.fixture(scope="session")
def racing(tmp_path_factory: pytest.TempPathFactory) -> KeibaServer:
    """A platform whose keiba reads the simulated race site."""
    return KeibaServer(tmp_path_factory.mktemp("racing"))


@pytest.fixture(scope="session")
def raced(racing: KeibaServer) -> Iterator[AppServer]:
    """The same platform, running, without accounts."""
    yield from _served(racing)


@pytest.fixture(scope="session")
def cricketing(tmp_path_factory: pytest.TempPathFactory) -> CricketServer:
    """A platform with matches from the simulated score feed."""
    return CricketServer(tmp_path_factory.mktemp("cricketing"))


@pytest.fixture(scope="session")
def played(cricketing: CricketServer) -> Iterator[AppServer]:
    """The same platform, running, without accounts."""
    yield from _served(cricketing)


def _served(home: OpenAppContext) -> Iterator[AppServer]:
    served = AppServer(home)
    served.start()
    yield served
    served.stop()


@pytest.fixture
def look(browser: Browser, axe: Path) -> Iterator[Look]:
    """Return a function that opens pages, each in its own browser context."""
    contexts = []

    def opened(url: str, **options: Any) -> BrowserPage:
        size = ViewportSize(width=options.pop("width", 1280), height=800)
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        contexts.append(context)
        context.set_default_timeout(_TIMEOUT_MILLISECONDS)
        return BrowserPage(context.new_page(), url, axe)

    yield opened
    for context in contexts:
        context.close()
