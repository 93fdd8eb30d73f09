"""The gatherer's books are lent to bets as prices of games, asking nobody outside."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from grandstand.apps.gatherer.services.markets import MarketView
from grandstand.apps.gatherer.services.recording.status import RecorderState, RecorderStatus
from grandstand.host.exchange_prices import GathererPrices, named_first

pytestmark = pytest.mark.anyio
START = datetime(2026, 2, 12, tzinfo=UTC)
GAME = ("basketball_nba", "Los Angeles Lakers", "Boston Celtics", START)


def market(title: str, closes: datetime = START, bid: int | None = 59_000) -> MarketView:
    return MarketView(
        ticker="KXNBA-1",
        event_ticker="KXNBA",
        series_ticker="KXNBA",
        category="Sports",
        title=title,
        status="active",
        volume=0,
        volume_24h=0,
        open_ts=None,
        close_ts=int(closes.timestamp() * 1_000_000),
        chosen=True,
        followed=True,
        stale=False,
        best_yes_bid=bid,
        best_yes_ask=None if bid is None else 61_000,
    )


@dataclass
class Listed:
    """A gatherer with some markets; it counts who asks for them."""

    state: RecorderState = "recording"
    listed: tuple[MarketView, ...] = ()
    asked: "list[str]" = field(default_factory=list)

    @property
    def recording(self) -> "Listed":
        return self

    @property
    def markets(self) -> "Listed":
        return self

    async def status(self) -> RecorderStatus:
        return RecorderStatus(self.state, "one")

    async def list(self) -> tuple[MarketView, ...]:
        self.asked.append("markets")
        return self.listed

    def now_us(self) -> int:
        return int(START.timestamp()) * 1_000_000


async def test_a_market_that_names_both_teams_is_the_price_of_the_one_named_first() -> None:
    gatherer = Listed(listed=(market("Will the Celtics beat the Lakers?"), market("Lakers win?")))

    [found] = await GathererPrices(lambda: gatherer).of_game(*GAME)

    assert (found.team, found.bid, found.ask) == ("Boston Celtics", 5_900, 6_100)
    assert found.href == "/gatherer/markets/KXNBA-1"


async def test_half_of_a_ten_thousandth_is_rounded_up() -> None:
    gatherer = Listed(listed=(market("Will the Celtics beat the Lakers?", bid=59_005),))

    [found] = await GathererPrices(lambda: gatherer).of_game(*GAME)

    assert found.bid == 5_901


@pytest.mark.parametrize(
    "other",
    [
        market("Lakers against Celtics", START + timedelta(days=3)),
        market("Lakers against Celtics", bid=None),
        market("Heat against Celtics"),
    ],
)
async def test_another_game_or_an_empty_book_is_no_price(other: MarketView) -> None:
    gatherer = Listed(listed=(other,))

    assert await GathererPrices(lambda: gatherer).of_game(*GAME) == ()


async def test_nobody_is_asked_while_nothing_is_recorded() -> None:
    gatherer = Listed(state="off", listed=(market("Lakers against Celtics"),))

    found = await GathererPrices(lambda: gatherer).of_game(*GAME)

    assert (found, gatherer.asked) == ((), [])
    assert await GathererPrices(lambda: None).of_game(*GAME) == ()


def test_teams_of_one_last_word_are_not_told_apart() -> None:
    assert named_first("Sheffield United at Leeds United", "Leeds United", "Manchester United") is (
        None
    )
