"""Methods marked as routes, asked through FastAPI."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import httpx2
import msgspec
import pytest
from fastapi import FastAPI, Query
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from grandstand.core.errors import GrandstandError, NotFound
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller
from grandstand.kit.cursors import Page
from grandstand.kit.problems import Problems
from grandstand.kit.routes import (
    AdminCaller,
    CurrentCaller,
    JsonNames,
    OptionalCaller,
    StrictModel,
    build_router,
    delete,
    get,
    json_response,
    page,
    post,
)

pytestmark = pytest.mark.anyio
BOB = Caller("bob", "Bob", frozenset({"user"}), "key")


class Bet(StrictModel):
    at: datetime
    cents: int
    legs: tuple[str, ...] = ()


class Price(msgspec.Struct):
    cents: int


@dataclass(frozen=True, slots=True)
class Team:
    full_name: str


class Api:
    """Routes of every kind."""

    @get("/me", summary="Who", example={"name": "Bob"})
    async def me(self, who: CurrentCaller, request: Request) -> dict[str, str]:
        """Whoever asks."""
        return {"name": who.name, "path": request.url.path}

    @get("/maybe", summary="Who, if anybody", access="anyone")
    async def maybe(
        self, who: OptionalCaller, limit: Annotated[int, Query(ge=1)] = 5
    ) -> dict[str, object]:
        """Whoever asks, if anybody."""
        return {"name": who.name if who else None, "limit": limit}

    @get("/boss", summary="Only administrators")
    async def boss(self, who: AdminCaller) -> str:
        """A name."""
        return who.name

    @post("/bets", summary="Bet", problems=(NotFound,))
    async def bet(self, given: Bet) -> Bet:
        """The bet."""
        return given

    @delete("/bets/{name}", summary="Take back")
    async def take_back(self, name: str) -> None:
        """Nothing."""
        raise NotFound(f"There is no bet {name}")

    @get("/prices", summary="Prices", answers=list[Price])
    async def prices(self) -> Response:
        """Prices, in one step."""
        return json_response([Price(5)])

    @get("/teams", summary="Teams")
    async def teams(self) -> Page[Team]:
        """Teams, page by page."""
        return Page((Team("Harbour"),), "next")

    @page("/shown")
    async def shown(self) -> Response:
        """A page."""
        return HTMLResponse("<p>here")


def _as(caller: Caller | None, names: JsonNames = "snake") -> httpx2.AsyncClient:
    app = FastAPI()
    for kind in (GrandstandError, RequestValidationError):
        app.add_exception_handler(kind, Problems().handle)
    app.router.routes.extend(build_router(Api(), "/api/test", names=names).routes)
    transport = httpx2.ASGITransport(_known(app, caller))
    return httpx2.AsyncClient(transport=transport, base_url="http://here/api/test")


def _known(app: ASGIApp, caller: Caller | None) -> ASGIApp:
    async def known(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"caller": caller}
        await app(scope, receive, send)

    return known


@pytest.mark.parametrize(
    ("names", "field"), [("snake", "full_name"), ("camel", "fullName")], ids=["snake", "camel"]
)
async def test_page_has_items_and_cursor(names: JsonNames, field: str) -> None:
    async with _as(BOB, names) as client:
        answer = await client.get("/teams")

    assert answer.json() == {"items": [{field: "Harbour"}], "cursor": "next"}


@pytest.mark.parametrize(
    ("caller", "path", "status"),
    [
        (BOB, "/me", 200),
        (None, "/me", 401),
        (None, "/maybe", 200),
        (BOB, "/boss", 403),
        (LOCAL_OWNER, "/boss", 200),
        (None, "/prices", 401),
        (None, "/shown", 401),
    ],
)
async def test_a_route_lets_in_whom_its_mark_says(
    caller: Caller | None, path: str, status: int
) -> None:
    async with _as(caller) as client:
        reply = await client.get(path)

    assert reply.status_code == status


async def test_a_method_gets_its_caller_and_its_request() -> None:
    async with _as(BOB) as client:
        reply = await client.get("/me")

    assert reply.json() == {"name": "Bob", "path": "/api/test/me"}


async def test_a_browser_is_led_to_sign_in_and_back() -> None:
    async with _as(None) as client:
        reply = await client.get("/shown?of=a b", headers={"accept": "text/html"})

    assert reply.status_code == 303
    assert reply.headers["location"] == "/login?next=/api/test/shown%3Fof%3Da%2520b"


async def test_a_body_is_taken_by_the_types_of_json() -> None:
    sent = {"at": "2026-01-01T00:00:00Z", "cents": 5, "legs": ["a", "b"]}

    async with _as(BOB) as client:
        reply = await client.post("/bets", json=sent)

    assert reply.json() == sent


@pytest.mark.parametrize(
    "changed",
    [
        {"cents": "5"},
        {"cents": 5.5},
        {"cents": True},
        {"at": 1735689600},
        {"legs": "ab"},
        {"stake": 1},
    ],
)
async def test_loose_types_and_unknown_fields_are_refused(changed: dict[str, object]) -> None:
    sent = {"at": "2026-01-01T00:00:00Z", "cents": 5} | changed

    async with _as(BOB) as client:
        reply = await client.post("/bets", json=sent)

    assert reply.status_code == 422


@pytest.mark.parametrize("part", [b'"legs": ["\\ud800"]', b'"\\ud800": 1'])
async def test_half_a_character_is_refused(part: bytes) -> None:
    sent = b'{"at": "2026-01-01T00:00:00Z", "cents": 5, ' + part + b"}"

    async with _as(BOB) as client:
        reply = await client.post(
            "/bets", content=sent, headers={"content-type": "application/json"}
        )

    assert reply.status_code == 422


def test_a_model_can_be_made_in_python_by_its_own_types() -> None:
    bet = Bet(at=datetime(2026, 1, 1, tzinfo=UTC), cents=5, legs=("a",))

    assert bet.model_dump()["legs"] == ("a",)


@pytest.mark.parametrize(
    ("query", "status"),
    [("limit=3", 200), ("limit=0", 422), ("lmit=3", 422), ("limit=3&x", 422), ("l%69mit=3", 200)],
)
async def test_unknown_parameters_are_refused(query: str, status: int) -> None:
    async with _as(BOB) as client:
        reply = await client.get(f"/maybe?{query}")

    assert reply.status_code == status


async def test_an_error_of_a_method_is_a_problem() -> None:
    async with _as(BOB) as client:
        reply = await client.delete("/bets/one")

    assert reply.json()["detail"] == "There is no bet one"


def test_a_description_has_answers_examples_and_problems() -> None:
    app = FastAPI()
    app.router.routes.extend(build_router(Api(), "/api/test").routes)

    paths = app.openapi()["paths"]

    me = paths["/api/test/me"]["get"]
    assert me["responses"]["200"]["content"]["application/json"]["example"] == {"name": "Bob"}
    assert me["responses"].keys() == {"200", "400", "401", "403", "422", "429", "500", "503"}
    assert "404" in paths["/api/test/bets/{name}"]["delete"]["responses"]
    assert "413" in paths["/api/test/bets"]["post"]["responses"]
    assert "/api/test/shown" not in paths
