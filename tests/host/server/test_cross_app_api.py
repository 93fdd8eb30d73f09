"""Programs ask all applications at once."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from grandstand.apps.trainer.services import Trainer
from grandstand.apps.trainer.sources.scenario_files import load_library
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings
from tests.pages.platform_server import EXCHANGE, RACING

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(home=tmp_path, keiba=RACING, gatherer=EXCHANGE)
    async with Platform.open(settings) as platform:
        trainer: Trainer = platform.services["trainer"]
        await trainer.scenarios.load(load_library())
        transport = httpx2.ASGITransport(build_application(platform)[0], client=("127.0.0.1", 1))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000"
        ) as asking:
            yield asking


async def test_what_is_found_says_which_application_knows_it(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/search", params={"q": "hospital"})

    assert answer.json() == {
        "query": "hospital",
        "hits": [
            {
                "app": "trainer",
                "kind": "scenario",
                "title": "Which hospital is safer?",
                "detail": "Advanced, about 40 min",
                "href": "/trainer/scenarios/two-hospitals",
            }
        ],
        "failed": [],
    }


async def test_no_words_are_refused(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/search", params={"q": ""})

    assert answer.status_code == 422


async def test_without_anything_decided_the_scoreboard_has_no_figures(
    client: httpx2.AsyncClient,
) -> None:
    told = (await client.get("/api/scoreboard")).json()

    own = [one["who"] for one in told["standings"] if one["whose"] == "yours"]
    assert own == ["Your bets", "Your forecasts"]
    assert {one["brier"] for one in told["standings"]} == {None}
    assert told["failed"] == []
