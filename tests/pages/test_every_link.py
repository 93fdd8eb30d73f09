"""Whoever begins at home and follows every link of the demo meets nothing broken."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response

from grandstand.base.clock import SystemClock
from grandstand.base.metrics import Metrics
from grandstand.host.catalogue import APPS
from grandstand.kit.live import Hub
from grandstand.kit.routes import page, router_of
from tests.pages.conftest import Look
from tests.pages.demoing import Demoing
from tests.pages.roaming import Roaming, page_routes
from tests.pages.serving import Opened, Served

_PATIENCE_SECONDS = 400.0
_REFUSED_FORM = "where a form that was refused is loaded anew; the form is on another page"
# Pages no link leads to, and why none does.
UNLINKED = {
    "/bets/mine/like": _REFUSED_FORM,
    "/bets/mine/limits": _REFUSED_FORM,
    "/bets/mine/record": _REFUSED_FORM,
    "/bets/mine/time-out": _REFUSED_FORM,
    "/bets/models/data": _REFUSED_FORM,
    "/bets/models/{model_id}/backtest": _REFUSED_FORM,
    "/gatherer/start": "recording goes on already",
    "/login": "nobody has to log in where there are no accounts",
    "/{name}": "the door of an application without pages; every one has some",
}


@pytest.fixture(scope="module")
def demoing(tmp_path_factory: pytest.TempPathFactory) -> Demoing:
    return Demoing(tmp_path_factory.mktemp("demoing"))


@pytest.fixture(scope="module")
def demo(demoing: Demoing) -> Iterator[Served]:
    served = Served(demoing, _PATIENCE_SECONDS)
    served.start()
    demoing.fill()
    yield served
    served.stop()


def test_every_link_from_home_leads_to_a_page_without_a_fault(
    look: Look, demo: Served, demoing: Demoing
) -> None:
    roaming = Roaming(look(demo.url), demoing.routes)

    roaming.walk()

    missed = page_routes(demoing.routes) - set(roaming.pages.values())
    assert roaming.faults == []
    assert {app.name for app in APPS} <= {path.split("/")[1] for path in roaming.pages}
    assert missed == set(UNLINKED)


class Broken:
    """A home with everything a walk must not overlook."""

    @page("/", access="anyone")
    async def home(self) -> Response:
        return HTMLResponse(
            """<!doctype html><html lang="en"><title>Home</title><main><h1>Home</h1>
            <img src="http://away.example/picture.png"><a href="#nowhere">Down</a>
            <a href="/gone">Gone</a><a href="/fails">Fails</a></main></html>"""
        )

    @page("/fails", access="anyone")
    async def fails(self) -> Response:
        return HTMLResponse("<!doctype html><title>Fails</title>", 500)


BROKEN = router_of(Broken(), "").routes


@asynccontextmanager
async def _broken() -> AsyncIterator[Opened]:
    app = FastAPI()
    app.router.routes.extend(BROKEN)
    yield Opened(app, Hub(SystemClock(), Metrics()))


@pytest.fixture
def broken() -> Iterator[Served]:
    served = Served(_broken)
    served.start()
    yield served
    served.stop()


def test_a_walk_overlooks_nothing_that_is_broken(look: Look, broken: Served) -> None:
    roaming = Roaming(look(broken.url), BROKEN)

    roaming.walk()

    found = "\n".join(roaming.faults)
    assert "/: image-alt" in found
    assert "/: asked http://away.example/picture.png" in found
    assert "/: lacks #nowhere" in found
    assert "/gone: no route leads there" in found
    assert f"/fails: {broken.url}/fails answered 500" in found
    assert "/fails: lacks a heading" in found
