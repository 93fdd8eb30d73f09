"""A frame that names no market puts every market of its subscription in doubt."""

from grandstand.apps.gatherer.domain.feed import Feed
from grandstand.apps.gatherer.domain.feed_events import GapOpened, GapReason, SnapshotsNeeded
from grandstand.apps.gatherer.domain.messages import (
    InvalidMessage,
    SnapshotMessage,
    SubscribedReply,
)


def test_a_refused_frame_of_an_unknown_market_asks_for_every_book_of_its_sid() -> None:
    feed = Feed(gatherer="east", conn=1)
    feed.handle(SubscribedReply(1, "orderbook_delta", 4), 1)
    feed.handle(SnapshotMessage(4, 1, "A", ((1000, 5),), ()), 2)
    feed.handle(SnapshotMessage(4, 2, "B", (), ((2000, 7),)), 3)

    outcome = feed.handle(InvalidMessage("no ticker", "orderbook_delta", 4, 3), 4)

    opened, wanted = outcome.events
    assert isinstance(opened, GapOpened)
    assert opened.gap.reason is GapReason.REFUSED
    assert opened.gap.tickers == {"A", "B"}
    assert wanted == SnapshotsNeeded(4, ("A", "B"))
    assert feed.stale == {"A", "B"}


def test_a_refused_trade_is_a_gap_to_be_filled() -> None:
    feed = Feed(gatherer="east", conn=1)
    feed.handle(SubscribedReply(1, "trade", 5), 1)

    outcome = feed.handle(InvalidMessage("no price", "trade", 5, 1, "A"), 2)

    assert [incident for incident in outcome.events if isinstance(incident, GapOpened)]
    assert feed.gaps.remaining()[0].channel == "trade"
