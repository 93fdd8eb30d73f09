"""A frame that names no market puts every market of its subscription in doubt."""

from grandstand.apps.gatherer.model.feed import Feed
from grandstand.apps.gatherer.model.incidents import GapOpened, GapReason, SnapshotsWanted
from grandstand.apps.gatherer.model.messages import Refused, Snapshot, Subscribed


def test_a_refused_frame_of_an_unknown_market_asks_for_every_book_of_its_sid() -> None:
    feed = Feed(gatherer="east", conn=1)
    feed.take(Subscribed(1, "orderbook_delta", 4), 1)
    feed.take(Snapshot(4, 1, "A", ((1000, 5),), ()), 2)
    feed.take(Snapshot(4, 2, "B", (), ((2000, 7),)), 3)

    outcome = feed.take(Refused("no ticker", "orderbook_delta", 4, 3), 4)

    opened, wanted = outcome.incidents
    assert isinstance(opened, GapOpened)
    assert opened.gap.reason is GapReason.REFUSED
    assert opened.gap.tickers == {"A", "B"}
    assert wanted == SnapshotsWanted(4, ("A", "B"))
    assert feed.stale == {"A", "B"}


def test_a_refused_trade_is_a_gap_to_be_filled() -> None:
    feed = Feed(gatherer="east", conn=1)
    feed.take(Subscribed(1, "trade", 5), 1)

    outcome = feed.take(Refused("no price", "trade", 5, 1, "A"), 2)

    assert [incident for incident in outcome.incidents if isinstance(incident, GapOpened)]
    assert feed.open_gaps[0].channel == "trade"
