"""The truth over HTTP, and an exchange in a process of its own."""

from collections.abc import Iterator

import httpx2
import msgspec
import pytest

from grandstand.simulators.exchange.market import DeltaEvent
from grandstand.simulators.exchange.process import ExchangeOptions, exchange_process
from grandstand.simulators.exchange.world import WorldConfig
from grandstand.simulators.exchange.ws_connections import StreamFault
from tests.simulators.exchange.stream_reader import REST, reading, rebuilt


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with exchange_process(ExchangeOptions(world=WorldConfig(seed=5, markets=20))) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=f"http://{address}") as made:
        yield made


def change(client: httpx2.Client, what: str, **body: object) -> httpx2.Response:
    return client.post(f"/simulator/{what}", json=body)


@pytest.mark.anyio
async def test_what_is_read_from_another_process_is_its_truth(
    address: str, client: httpx2.Client
) -> None:
    listed = client.get(f"{REST}/markets?status=open").json()["markets"]
    tickers = [market["ticker"] for market in listed]
    async with reading(address) as reader:
        frames = await reader.subscribed(["orderbook_delta"], tickers)
        change(client, "step", events=3000)
        frames += await reader.taken()

    now = client.get("/simulator/truth").json()["now_us"]
    levels = {
        ticker: client.get(f"/simulator/truth/books?ticker={ticker}&at=0,{now}").json()[1][1]
        for ticker in tickers
    }
    books = {ticker: rebuilt(frames, ticker) for ticker in tickers}
    assert {
        ticker: [sorted(book["yes"].items()), sorted(book["no"].items())]
        for ticker, book in books.items()
    } == {
        ticker: [[tuple(pair) for pair in side] for side in sides]
        for ticker, sides in levels.items()
    }


def test_deltas_trades_and_summaries_can_be_fetched(client: httpx2.Client) -> None:
    change(client, "step", events=2000)
    ticker = client.get("/simulator/truth/tickers").json()[0]

    answer = client.get(f"/simulator/truth/deltas?ticker={ticker}").content
    rest = client.get(f"/simulator/truth/deltas?ticker={ticker}&after=5").content
    counts = client.get("/simulator/truth").json()

    deltas = msgspec.json.decode(answer, type=list[DeltaEvent])
    assert {delta.ticker for delta in deltas} == {ticker}
    assert msgspec.json.decode(rest, type=list[DeltaEvent]) == deltas[5:]
    assert len(client.get("/simulator/truth/trades").json()) == counts["trades"] > 0
    assert len(client.get("/simulator/truth/quotes").json()) == counts["quotes"] > 0


def test_markets_are_made_and_changed_on_request(client: httpx2.Client) -> None:
    made = change(client, "create", opens_in_seconds=60, open_seconds=60).json()
    ticker = made[1][2]["market_ticker"]
    lifecycle = {"event_type": "determined", "result": "no"}

    change(client, "lifecycle", ticker=ticker, change=lifecycle)
    change(client, "fees", event_ticker=made[0][2]["event_ticker"], multiplier=3)

    market = client.get(f"{REST}/markets/{ticker}").json()["market"]
    kinds = [news[1] for news in client.get("/simulator/truth/lifecycle").json()]
    assert (market["status"], market["result"]) == ("determined", "no")
    assert kinds[-2:] == ["market_lifecycle_v2", "event_fee_update"]


def test_the_clock_the_pace_and_the_status_can_be_changed(client: httpx2.Client) -> None:
    before = client.get("/simulator/truth").json()

    change(client, "skew", seconds=3600)
    change(client, "pace", events_per_second=5000)
    change(client, "status", exchange_active=False)
    skewed = client.get("/simulator/truth").json()
    down = client.get(f"{REST}/exchange/status")
    change(client, "skew", seconds=0)
    change(client, "pace", events_per_second=0)
    change(client, "status")

    assert skewed["now_us"] - before["now_us"] > 3_500_000_000
    assert (down.status_code, down.json()["exchange_active"]) == (503, False)
    assert client.get(f"{REST}/exchange/status").json()["exchange_active"] is True


@pytest.mark.parametrize(
    ("what", "body", "status"),
    [
        ("step", {"events": "many"}, 400),
        ("lifecycle", {"ticker": "NONE", "change": {"event_type": "settled"}}, 404),
        ("lifecycle", {"ticker": "NONE", "change": {"event_type": "sold"}}, 400),
        ("earthquake", {}, 404),
    ],
)
def test_what_cannot_be_changed_is_refused(
    client: httpx2.Client, what: str, body: dict[str, object], status: int
) -> None:
    assert change(client, what, **body).status_code == status


def test_a_truth_that_is_asked_for_wrongly_is_refused(client: httpx2.Client) -> None:
    paths = ("truth/deltas", "truth/books?ticker=A&at=noon", "truth/nothing")

    statuses = [client.get(f"/simulator/{path}").status_code for path in paths]

    assert statuses == [400, 400, 404]


def test_options_survive_json() -> None:
    options = ExchangeOptions(
        world=WorldConfig(seed=9), keys={"a": "b"}, faults=(StreamFault("drop", share=0.1),)
    )

    read = msgspec.json.decode(msgspec.json.encode(options), type=ExchangeOptions)

    assert read == options
