"""Many instants asked together are answered as each by itself."""

import random
from itertools import product

import pytest

from grandstand.apps.gatherer.services.queries.books import BookHistory, CachedWindows
from grandstand.apps.gatherer.store import AUDITS, Audit
from grandstand.storage.series.query import Order, Window
from tests.apps.gatherer.services.conftest import Opener
from tests.apps.gatherer.services.recorded_rows import (
    SECOND,
    START,
    TICKERS,
    brief_engines,
    recorded,
    truth,
)

HOUR = 3600 * SECOND


def test_books_at_many_instants_are_those_at_each(place: Opener) -> None:
    day = truth(12, 400)
    engine = place("own")
    recorded(day, lost=[range(START + 300_000, START + 500_000)]).keep(engine)
    chance = random.Random(3)
    near = [chance.randrange(START - 2000, day[-1].at + SECOND) for _ in range(30)]
    instants = sorted({*near, START + HOUR, START + 2 * HOUR})

    together = [[*BookHistory(engine).each(ticker, instants)] for ticker in TICKERS]

    assert together == [
        [BookHistory(engine).at(ticker, at) for at in instants] for ticker in TICKERS
    ]


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_any_window_is_answered_as_the_engine_would(order: Order) -> None:
    times = [START + hours * HOUR for hours in (-50, -9, -1, 0, 1, 9, 50)]
    edges = [0, *(at + 1 for at in times), 2**62]
    windows = [
        Window(AUDITS, start, end, keys, order=order, limit=most)
        for start, end in product(edges, edges)
        for keys in ((), ("A",), ("A", "B"))
        for most in (None, 1, 3)
    ]
    with brief_engines(1) as (engine,):
        engine.prepare(AUDITS)
        engine.append(AUDITS, [Audit(at, "A", "east", "rest", "equal") for at in times])
        engine.append(AUDITS, [Audit(at + 5, "B", "east", "rest", "equal") for at in times])
        near = CachedWindows(engine, START, START + SECOND)

        found = [[*near.read(window)] for window in windows]
        plain = [[*engine.read(window)] for window in windows]

    assert found == plain
