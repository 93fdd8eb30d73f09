"""Fault injection on real sockets, reproducible by seed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import httpx2
import pytest
import websockets

from grandstand.simulators.asgi import Message, Receive, Send
from grandstand.simulators.faults import CONTROL, Fault, Faults, Faulty
from grandstand.simulators.serving import serve

pytestmark = pytest.mark.anyio


async def five(scope: Message, receive: Receive, send: Send) -> None:
    """Responds with a text, and sends five numbers over a WebSocket."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"0123456789" * 100})
        return
    await receive()
    await send({"type": "websocket.accept"})
    for number in range(5):
        await send({"type": "websocket.send", "text": str(number)})
    await send({"type": "websocket.close", "code": 1000})


@asynccontextmanager
async def going_wrong(*rules: Fault) -> AsyncIterator[tuple[httpx2.AsyncClient, Faults]]:
    faults = Faults(Random(1))
    faults.ask_for(*rules)
    async with (
        serve(Faulty(five, faults)) as address,
        httpx2.AsyncClient(base_url=f"http://{address}") as client,
    ):
        yield client, faults


async def frames(*rules: Fault) -> list[str]:
    faults = Faults(Random(1))
    faults.ask_for(*rules)
    heard: list[str] = []
    async with serve(Faulty(five, faults)) as address:
        try:
            async with websockets.connect(f"ws://{address}/") as socket:
                heard.extend([str(message) async for message in socket])
        except websockets.ConnectionClosed:
            heard.append("closed")
    return heard


async def test_without_faults_all_goes_well() -> None:
    async with going_wrong() as (client, _):
        answer = await client.get("/")

    assert (answer.status_code, len(answer.content)) == (200, 1000)


@pytest.mark.parametrize(("kind", "status"), [("too many", 429), ("failing", 503)])
async def test_a_refusal_tells_how_long_to_wait(kind: str, status: int) -> None:
    rule = Fault(kind="too many" if kind == "too many" else "failing", times=1, seconds=7)
    async with going_wrong(rule) as (client, _):
        first, second = await client.get("/"), await client.get("/")

    assert (first.status_code, first.headers["retry-after"]) == (status, "7")
    assert second.status_code == 200


async def test_a_dropped_request_gets_no_answer_at_all() -> None:
    async with going_wrong(Fault(kind="drop")) as (client, _):
        with pytest.raises(httpx2.RemoteProtocolError, match="without sending a response"):
            await client.get("/")


async def test_a_disconnect_cuts_the_body_in_two() -> None:
    async with going_wrong(Fault(kind="disconnect")) as (client, _):
        with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
            await client.get("/")


async def test_garbage_is_no_json() -> None:
    async with going_wrong(Fault(kind="garbage")) as (client, _):
        answer = await client.get("/")

    with pytest.raises(ValueError, match=r"utf-16|utf-8|Expecting"):
        answer.json()


async def test_only_the_paths_named_are_hit() -> None:
    async with going_wrong(Fault(kind="failing", path="/odds")) as (client, _):
        hit, spared = await client.get("/odds/nba"), await client.get("/scores")

    assert (hit.status_code, spared.status_code) == (503, 200)


async def test_the_same_seed_hits_the_same_requests() -> None:
    struck = []
    for _ in range(2):
        async with going_wrong(Fault(kind="failing", share=0.5)) as (client, _faults):
            struck.append([(await client.get("/")).status_code for _ in range(12)])

    assert struck[0] == struck[1]
    assert set(struck[0]) == {200, 503}


async def test_faults_are_asked_for_and_counted_over_the_wire() -> None:
    async with going_wrong() as (client, _):
        put = await client.put(CONTROL, json=[{"kind": "failing", "times": 2}])
        statuses = [(await client.get("/")).status_code for _ in range(3)]
        told = (await client.get(CONTROL)).json()

    assert put.status_code == 200
    assert statuses == [503, 503, 200]
    assert told["struck"] == {"failing": 2}


async def test_a_fault_nobody_knows_is_refused_and_changes_nothing() -> None:
    async with going_wrong(Fault(kind="failing")) as (client, faults):
        refused = await client.put(CONTROL, json=[{"kind": "earthquake"}])

        assert refused.status_code == 400
        assert [rule.kind for rule in faults.rules] == ["failing"]


@pytest.mark.parametrize(
    ("kind", "heard"),
    [
        ("drop", ["1", "2", "3", "4"]),
        ("duplicate", ["0", "0", "1", "2", "3", "4"]),
        ("reorder", ["1", "0", "2", "3", "4"]),
        ("disconnect", ["closed"]),
    ],
)
async def test_the_first_frame_of_a_socket_goes_wrong(kind: str, heard: list[str]) -> None:
    rule = Fault(kind=kind, times=1)  # type: ignore[arg-type]

    assert await frames(rule) == heard


async def test_a_garbled_frame_is_none_of_ours() -> None:
    first, *rest = await frames(Fault(kind="garbage", times=1))

    assert "<<garbage>>" in first
    assert rest == ["1", "2", "3", "4"]
