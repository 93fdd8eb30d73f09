"""What really happened: every delta, and the book at every instant."""

from random import Random

from grandstand.core.clock import ManualClock
from grandstand.simulators.exchange.market import SECOND, DeltaEvent, QuoteEvent, TradeEvent
from grandstand.simulators.exchange.world import World, WorldConfig


def world_of(truth_most: int | None = None) -> World:
    return World(ManualClock(), WorldConfig(markets=4, truth_most=truth_most))


def test_every_delta_trade_and_summary_is_kept_in_its_order() -> None:
    world = world_of()
    ticker = world.listed[0].ticker

    events = world.step(3000, world.now_us() + SECOND)

    deltas = [it for it in events if isinstance(it, DeltaEvent) and it.ticker == ticker]
    assert list(world.truth.deltas(ticker)) == deltas
    assert list(world.truth.deltas(ticker, after=10)) == deltas[10:]
    assert world.truth.trades == [it for it in events if isinstance(it, TradeEvent)]
    assert world.truth.quotes == [it for it in events if isinstance(it, QuoteEvent)]


def test_the_book_at_an_instant_has_all_that_happened_up_to_it_and_nothing_after() -> None:
    world = world_of()
    ticker = world.listed[0].ticker
    first = world.book(ticker)
    assert first is not None
    books = [(0, first.copy())]
    for tick in range(1, 300):
        world.step(3, world.now_us() + tick * 1000)
        book = world.book(ticker)
        assert book is not None
        books.append((world.now_us() + tick * 1000, book.copy()))

    found = list(world.truth.books_at(ticker, [at for at, _ in books]))

    assert found == [book for _, book in books]
    assert next(world.truth.books_at(ticker, (books[150][0],))) == books[150][1]
    assert next(world.truth.books_at("NONE", (0,)), None) is None


def test_what_is_forgotten_is_still_in_the_book() -> None:
    world = world_of(truth_most=50)
    ticker = world.listed[0].ticker

    events = world.step(4000, world.now_us() + SECOND)

    made = [it for it in events if isinstance(it, DeltaEvent) and it.ticker == ticker]
    kept = list(world.truth.deltas(ticker))
    assert 50 <= len(kept) < 100
    assert kept == made[-len(kept) :]
    assert next(world.truth.books_at(ticker, (kept[-1].at,))) == world.book(ticker)
    assert len(world.truth.trades) < 100
    assert world.truth.deltas_made == sum(isinstance(it, DeltaEvent) for it in events)


def test_any_split_of_the_steps_leaves_a_truth_that_makes_the_present_book() -> None:
    world, draw = world_of(), Random(3)

    for _ in range(60):
        world.step(draw.randrange(1, 80), world.now_us() + draw.randrange(SECOND))

    now = world.now_us() + SECOND
    assert [next(world.truth.books_at(ticker, (now,))) for ticker in world.truth.tickers] == [
        world.book(ticker) for ticker in world.truth.tickers
    ]
