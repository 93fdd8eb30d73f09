"""The streams that are measured are such as an exchange without faults would send."""

from collections import Counter
from itertools import islice

from benchmarks.gatherer.day import day_frames
from benchmarks.gatherer.streams import ours, stream
from grandstand.apps.gatherer.domain.feed import Feed
from grandstand.apps.gatherer.domain.feed_events import FeedResult
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder


def _taken(frames: list[bytes]) -> tuple[list[FeedResult], Feed]:
    parse, feed = FrameDecoder().parse, Feed(gatherer="bench", conn=1)
    return [feed.handle(parse(frame), at) for at, frame in enumerate(frames, start=1)], feed


def test_every_frame_of_a_stream_is_a_row_and_nothing_else_happens() -> None:
    told = stream(markets=3, levels=5, number=500)

    outcomes, _ = _taken(ours(told))

    kinds = Counter(type(outcome.row).__name__ for outcome in outcomes)
    assert kinds == {"OrderbookSnapshot": 3, "OrderbookDelta": 500}
    assert not any(outcome.events for outcome in outcomes)


def test_books_after_a_stream_have_the_sizes_its_steps_say() -> None:
    told = stream(markets=1, levels=5, number=200)
    last = {(step.yes, step.price): step.size for step in told.steps}

    _, feed = _taken(ours(told))

    book = feed.book("KXBENCH-26NOV01-T0")
    assert book is not None
    sizes = {True: book.yes.sizes, False: book.no.sizes}
    assert {key: sizes[key[0]].get(key[1] * 10, 0) for key in last} == last


def test_a_day_has_deltas_trades_summaries_and_books_in_the_specification_s_shares() -> None:
    frames = [*islice(day_frames(40), 121 * 40)]

    outcomes, feed = _taken(frames)

    kinds = Counter(type(outcome.row).__name__ for outcome in outcomes)
    shares = {"OrderbookSnapshot": 1, "OrderbookDelta": 100, "Trade": 10, "Ticker": 10}
    assert kinds == {name: 40 * share for name, share in shares.items()}
    assert not any(outcome.events for outcome in outcomes)
    assert feed.stale == frozenset()
