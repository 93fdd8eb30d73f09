"""What every request passes, on a real socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import websockets.sync.client as sockets_client
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from grandstand.core.errors import Broken
from grandstand.host.server.serving import LOOPBACK
from grandstand.kit.routes import with_etag
from tests.host.server.serving import Served, serving, settings_in

LIMITS: dict[str, Any] = {"body_bytes": 1000, "request_seconds": 0.3, "requests_per_minute": 60}
PASSWORD = "a stand with a view"


async def _echo(request: Request) -> Response:
    return JSONResponse({"size": len(await request.body())})


async def _slow(_request: Request) -> Response:
    await asyncio.sleep(86_400)
    return PlainTextResponse("late")


async def _long(_request: Request) -> Response:
    return PlainTextResponse("grandstand " * 1000)


async def _stream(_request: Request) -> Response:
    async def parts() -> object:
        for number in range(3):
            await asyncio.sleep(0.2)
            yield f"part {number}\n" * 100

    return StreamingResponse(parts(), media_type="text/plain")  # type: ignore[arg-type]


async def _crash(_request: Request) -> Response:
    raise ZeroDivisionError("the inside of the platform")


async def _broken(_request: Request) -> Response:
    raise Broken("damaged at /home/ada/tables.db")


async def _tagged(request: Request) -> Response:
    return with_etag(request, PlainTextResponse("grandstand " * 200))


def _add(app: FastAPI) -> None:
    made = {
        "/test/echo": _echo,
        "/test/slow": _slow,
        "/test/long": _long,
        "/test/stream": _stream,
        "/test/crash": _crash,
        "/test/broken": _broken,
        "/test/tagged": _tagged,
    }
    added = [Route(path, end, methods=["GET", "POST"]) for path, end in made.items()]
    app.router.routes[:0] = added


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(settings_in(tmp_path_factory.mktemp("stack"), **LIMITS), add=_add) as running:
        yield running


def test_a_request_gets_an_id_and_every_header_that_protects_it(served: Served) -> None:
    with served.client() as client:
        reply = client.get("/api/platform/me")

    assert len(reply.headers["x-request-id"]) == 24
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in reply.headers["content-security-policy"]
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert "server" not in reply.headers


@pytest.mark.parametrize(
    ("given", "kept"),
    [("abc-DEF_12345", True), ("short", False), ("x" * 65, False), ("spaces in it", False)],
)
def test_an_id_that_comes_along_is_kept_if_it_is_sane(
    served: Served, given: str, *, kept: bool
) -> None:
    with served.client() as client:
        reply = client.get("/health", headers={"x-request-id": given})

    assert (reply.headers["x-request-id"] == given) is kept


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(served: Served, *, chunked: bool) -> None:
    body = b"x" * 1001

    with served.client() as client:
        reply = client.post("/test/echo", content=iter([body]) if chunked else body)

    assert reply.status_code == 413
    assert reply.json()["type"] == "urn:grandstand:problem:request-too-large"


def test_a_body_of_the_largest_size_is_taken(served: Served) -> None:
    with served.client() as client:
        reply = client.post("/test/echo", content=b"x" * 1000)

    assert reply.json() == {"size": 1000}


def test_a_request_that_takes_too_long_is_given_up(served: Served) -> None:
    with served.client() as client:
        reply = client.get("/test/slow")

    assert reply.status_code == 503
    assert reply.json()["type"] == "urn:grandstand:problem:request-timeout"


def test_a_body_that_takes_too_long_is_the_clients_fault(served: Served) -> None:
    head = b"POST /test/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nab"
    with socket.create_connection((LOOPBACK, served.port), timeout=60) as connection:
        connection.sendall(head)
        reply = b""
        while piece := connection.recv(65_536):
            reply += piece

    assert reply.startswith(b"HTTP/1.1 408 ")
    assert b"urn:grandstand:problem:body-timeout" in reply


def test_an_answer_that_has_begun_may_take_its_time(served: Served) -> None:
    with served.client() as client:
        reply = client.get("/test/stream")

    assert reply.text.count("part") == 300


@pytest.mark.parametrize("path", ["/test/long", "/test/stream", "/api/openapi.json"])
def test_large_texts_are_compressed_for_who_takes_it(served: Served, path: str) -> None:
    with served.client(**{"accept-encoding": "gzip"}) as client:
        small = client.get(path)
        while small.status_code == 503:  # the document is still being built
            small = client.get(path)
    with served.client(**{"accept-encoding": "identity"}) as client:
        large = client.get(path)

    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in large.headers
    assert small.content == large.content


def test_what_has_not_changed_is_not_sent_again(served: Served) -> None:
    with served.client() as client:
        first = client.get("/test/tagged")
        again = client.get("/test/tagged", headers={"if-none-match": first.headers["etag"]})
        other = client.get("/test/tagged", headers={"if-none-match": '"another"'})

    assert (first.status_code, again.status_code, other.status_code) == (200, 304, 200)
    assert again.content == b""


@pytest.mark.parametrize("path", ["/test/crash", "/test/broken"])
def test_the_inside_of_an_error_of_ours_stays_inside(served: Served, path: str) -> None:
    with served.client() as client:
        reply = client.get(path)

    assert reply.status_code == 500
    assert reply.json()["request_id"] == reply.headers["x-request-id"]
    assert "the inside" not in reply.text
    assert "/home/ada" not in reply.text


@pytest.mark.parametrize("path", ["/test/crash", "/test/broken"])
def test_the_cause_of_a_500_is_logged_once(
    served: Served, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with served.client() as client:
        reply = client.get(path)

    text, deadline = "", time.monotonic() + 30
    while reply.headers["x-request-id"] not in text and time.monotonic() < deadline:
        time.sleep(0.01)
        written = capsys.readouterr()
        text += written.out + written.err
    lines = [line for line in text.splitlines() if "request_failed" in line]
    assert len([line for line in lines if reply.headers["x-request-id"] in line]) == 1
    assert ("the inside of the platform" if "crash" in path else "damaged at") in text


def test_an_unknown_address_is_a_problem_to_programs_and_a_page_to_people(served: Served) -> None:
    with served.client() as client:
        program = client.get("/api/nothing", headers={"accept": "text/html"})
        person = client.get("/nothing/here", headers={"accept": "text/html"})

    assert program.headers["content-type"] == "application/problem+json"
    assert person.headers["content-type"].startswith("text/html")
    assert (program.status_code, person.status_code) == (404, 404)


def test_another_method_is_refused_with_those_there_are(served: Served) -> None:
    with served.client() as client:
        reply = client.delete("/api/platform/me")

    assert reply.status_code == 405
    assert reply.headers["allow"] == "GET"
    assert reply.json()["title"] == "Method not allowed"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "a b"]
)
def test_a_rebound_name_is_not_answered(served: Served, host: str) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        raw.sendall(f"GET /api/platform/me HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        reply = raw.recv(65536)

    assert reply.startswith(b"HTTP/1.1 400")
    assert b"owner" not in reply


def test_two_hosts_in_one_request_are_not_answered(served: Served) -> None:
    replies = []

    for lines in ("Host: 127.0.0.1\r\n", "Host: evil.example\r\nHost: 127.0.0.1\r\n"):
        with socket.create_connection(("127.0.0.1", served.port)) as raw:
            raw.sendall(f"GET /api/platform/me HTTP/1.1\r\n{lines}\r\n".encode())
            replies.append(raw.recv(65536)[:12])

    assert replies == [b"HTTP/1.1 200", b"HTTP/1.1 400"]


def test_requests_are_counted_by_the_template_of_their_route(served: Served) -> None:
    with served.client() as client:
        client.get("/api/platform/jobs/one/runs")
        client.get("/api/platform/jobs/two/runs")
        figures = client.get("/metrics").text

    line = 'method="GET",route="/api/platform/jobs/{name}/runs",status="404"'
    assert f"grandstand_requests_total{{{line}}} 2.0" in figures
    assert "jobs/one" not in figures


def test_the_access_log_says_who_asked_for_what_and_holds_no_secret(served: Served) -> None:
    served.lines.clear()
    key = "gs_01k2m3n4p5q6r7s8t9v0w1x2y3_" + "ab" * 32

    with served.client() as client:
        client.get("/api/platform/me?token=hush", headers={"authorization": f"Bearer {key}"})
        client.get(f"/nothing/{key}")
        client.get("/health/live")  # a line is written just after its answer is had

    lines = [json.loads(line) for line in served.lines]
    assert [line["status"] for line in lines[:2]] == [401, 404]
    assert key not in "".join(served.lines)
    assert "hush" not in "".join(served.lines)


def test_the_owner_is_not_bound_by_the_pace_and_others_are(tmp_path: Path) -> None:
    with serving(settings_in(tmp_path, requests_per_minute=60)) as served:
        with served.client() as client:
            owner = [client.get("/api/platform/me").status_code for _ in range(30)]
        served.do(served.platform.people.add("ada", PASSWORD, admin=True))
        time.sleep(1.1)
        with served.client() as client:
            nobody = [client.get("/api/platform/me") for _ in range(15)]

    assert set(owner) == {200}
    assert {reply.status_code for reply in nobody} == {401, 429}
    assert int(nobody[-1].headers["retry-after"]) >= 1


def test_the_first_account_ends_the_time_of_the_local_owner(tmp_path: Path) -> None:
    with serving(settings_in(tmp_path)) as served, served.client() as client:
        before = client.get("/api/platform/me").status_code
        served.do(served.platform.people.add("ada", PASSWORD, admin=True))
        time.sleep(1.1)
        after = client.get("/api/platform/me").status_code

    assert (before, after) == (200, 401)


def test_a_login_carries_through_cookie_and_proof(tmp_path: Path) -> None:
    with serving(settings_in(tmp_path)) as served, served.client() as client:
        served.do(served.platform.people.add("ada", PASSWORD, admin=True))
        login = client.post("/api/platform/login", json={"name": "ada", "password": PASSWORD})
        me = client.get("/api/platform/me").json()
        client.cookies.clear()
        wrong = client.post("/api/platform/login", json={"name": "ada", "password": "no"})

    cookie = login.headers["set-cookie"].lower()
    assert (login.status_code, me["via"], wrong.status_code) == (204, "session", 401)
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


def test_a_preference_is_seen_by_the_next_request(served: Served) -> None:
    with served.client() as client:
        client.get("/api/platform/me")
        given = {"time_zone": "Asia/Tokyo", "odds_format": "american"}
        client.put("/api/platform/preferences", json=given)
        me = client.get("/api/platform/me").json()

    assert me["preferences"] == {"time_zone": "Asia/Tokyo", "odds_format": "american"}


def test_a_house_stops_though_nobody_closes_a_socket_and_says_so_to_each(tmp_path: Path) -> None:
    with ExitStack() as pages:
        with serving(settings_in(tmp_path)) as served:
            address = f"ws://127.0.0.1:{served.port}/live"
            opened = [
                pages.enter_context(sockets_client.connect(address, proxy=None)) for _ in range(20)
            ]
        left = [_last_word(each) for each in opened]

    assert left == [1012] * 20


def _last_word(page: ClientConnection) -> int | None:
    """Read to the end, and answer with which code it was closed from the other side."""
    with suppress(ConnectionClosed):
        while True:
            page.recv(timeout=60)
    return page.close_code


def test_the_docs_page_and_its_files_come_from_here(served: Served) -> None:
    with served.client() as client:
        page = client.get("/api/docs").text
        paths = ["/api/docs/swagger-ui.css", "/api/docs/swagger-ui-bundle.js", "/api/docs/start.js"]
        found = [client.get(path).status_code for path in paths]

    assert found == [200, 200, 200]
    assert all(path in page for path in paths)
    assert "http" not in page.replace("http-equiv", "")
    assert "<script>" not in page


def test_readiness_tells_of_every_part(served: Served) -> None:
    with served.client() as client:
        told = client.get("/health/ready").json()

    assert told["status"] == "ok"
    assert told["parts"].keys() == {"store", "jobs"}


def test_compressed_answers_can_be_opened_by_any_gzip(served: Served) -> None:
    with (
        served.client(**{"accept-encoding": "gzip"}) as client,
        client.stream("GET", "/test/long") as reply,
    ):
        raw = b"".join(reply.iter_raw())

    assert gzip.decompress(raw) == b"grandstand " * 1000
