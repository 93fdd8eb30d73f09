"""The odds collector, which stores changed odds, and the cleanup of abandoned ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeAlias

from grandstand.apps.bets.domain.odds import InvalidPrice, parse_american
from grandstand.apps.bets.domain.records import (
    FeedGame,
    FeedGames,
    FeedPrice,
    FeedScores,
    GameRef,
    PricedOutcome,
    QuotaUsage,
    RejectedRow,
    slug,
)
from grandstand.apps.bets.domain.selections import (
    InvalidSelection,
    is_prop,
    parse_outcomes,
    parse_prop,
)
from grandstand.apps.bets.services.database import Database, check_sport, copy_as
from grandstand.apps.bets.services.predictions import load_prices
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.benny import BennyBet
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    GameInfo,
    GameOdds,
    GameOutcome,
    PropOdds,
    QuotaUse,
    SportBookmaker,
)
from grandstand.apps.bets.store.wagers import Wager
from grandstand.core.errors import Unavailable
from grandstand.kit.live import Publisher
from grandstand.storage.tables.operations.item_ops import Write

_PROPS_AHEAD: Final = timedelta(days=2)
_MAX_OUTCOMES: Final = 3

# A player or none, a bookmaker and a market.
_Place: TypeAlias = tuple[str, str, str]


class OddsNotConnected(Unavailable):
    """No odds feed is configured."""

    code = "odds-not-connected"

    retry = False


@dataclass(frozen=True, slots=True)
class CollectionReport:
    sport: str
    received: int
    written: int
    rejected: tuple[RejectedRow, ...] = ()
    credits: int = 0


class OddsFeed(Protocol):
    """A provider of odds and scores.

    The methods raise SourceFailed, Unavailable or LimitReached. Invalid games are reported in the
    result and do not affect the others.
    """

    async def fetch_odds(self, sport: str, markets: Sequence[str]) -> FeedGames:
        """Return the upcoming games of a sport with the odds of every bookmaker."""
        ...

    async def fetch_props(self, sport: str, game_id: str, markets: Sequence[str]) -> FeedGames:
        """Return a game with its player props; nothing if it is no longer listed."""
        ...

    async def fetch_scores(self, sport: str, days: int) -> FeedScores:
        """Return the scores of the last 1 to 3 days."""
        ...


@dataclass(slots=True)
class _StoredOdds:
    """The latest odds of a market before a time, and whether later ones are stored."""

    before: GameOdds | PropOdds | None = None
    overtaken: bool = False

    def take(self, row: GameOdds | PropOdds, now: datetime) -> None:
        if row.captured_at > now:
            self.overtaken = True
        elif self.before is None or row.captured_at > self.before.captured_at:
            self.before = row


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsCollector:
    """Fetches odds and stores the changed ones; each replaces the previous as the latest."""

    db: Database
    settings: BetsSettings
    publisher: Publisher
    feed: OddsFeed | None

    async def collect(self, sport: str) -> CollectionReport:
        """Fetch and store the odds of a sport.

        Raises NotFound if the sport is not enabled, and the errors of the feed.
        """
        feed = self._require_feed()
        games = await feed.fetch_odds(check_sport(self.settings, sport), self.settings.markets)
        await record_quota_use(self.db, f"odds/{sport}", games.usage)
        return await self.store_games(sport, games)

    async def collect_props(self, sport: str) -> CollectionReport:
        """Fetch and store the player props of games in the next two days."""
        feed, now = self._require_feed(), self.db.now()
        received, written, cost = 0, 0, 0
        rejected: list[RejectedRow] = []
        awaited = AwaitedGame.between(check_sport(self.settings, sport), now, now + _PROPS_AHEAD)
        for game in [game async for game in self.db.each(awaited)]:
            props = await feed.fetch_props(sport, game.game_id, self.settings.prop_markets)
            await record_quota_use(self.db, f"props/{game.game_id}", props.usage)
            report = await self.store_games(sport, props)
            received, written, cost = (
                received + report.received,
                written + report.written,
                cost + report.credits,
            )
            rejected += report.rejected
        return CollectionReport(sport, received, written, tuple(rejected), cost)

    async def store_games(self, sport: str, feed_games: FeedGames) -> CollectionReport:
        """Store what changed. Invalid games are rejected as a whole."""
        rejected = list(feed_games.rejected)
        received, written = 0, 0
        bookmakers: set[str] = set()
        for game in feed_games.games:
            error = game_error(game, sport)
            if error is not None:
                rejected.append(RejectedRow(game.game_id, error))
                continue
            stored, faults = await self._store_game(game)
            received += len(game.prices)
            written += stored
            rejected += faults
            bookmakers |= {price.bookmaker for price in game.prices}
        await self._store_bookmakers(sport, bookmakers)
        if written:
            self.publisher.publish(f"bets/games/{sport}", {"written": written})
        return CollectionReport(
            sport, received, written, tuple(rejected), feed_games.usage.credits or 0
        )

    async def _store_game(self, game: FeedGame) -> tuple[int, list[RejectedRow]]:
        now = self.db.now()
        if game.commence_time <= now:
            return 0, [
                RejectedRow(game.game_id, "The game has started; in-play odds are not stored.")
            ]
        await self._store_info(game, now)
        latest = await self._stored_odds(game, now)
        written, rejected = 0, []
        for price in game.prices:
            error = price_error(price, game)
            if error is not None:
                rejected.append(
                    RejectedRow(f"{game.game_id}/{price.bookmaker}/{price.market_key}", error)
                )
                continue
            written += await self._store_price(game, price, latest, now)
        return written, rejected

    async def _store_info(self, game: FeedGame, now: datetime) -> None:
        """Store a game, the time its odds were confirmed, and that its result is awaited.

        A rescheduled game is awaited at its new time. Late messages never move timestamps back.
        """
        store = self.db.store
        stored = await store(GameInfo.of_game(game.game_id))
        confirmed = {price.bookmaker: now for price in game.prices}
        if stored is not None and stored.commence_time == game.commence_time:
            before = stored.quoted_at or {}
            confirmed = {book: max(at, before.get(book, at)) for book, at in confirmed.items()}
            known_at = min(stored.known_at, now)
            await store(stored.replace(quoted_at={**before, **confirmed}, known_at=known_at).save())
            return
        info = game_info(game, now).replace(quoted_at=confirmed)
        writes: list[Write] = [info.save(), awaited_game(game).save()]
        if stored is not None:
            writes.append(awaited_game(stored).remove())
        await store.all(*writes)

    async def _stored_odds(self, game: FeedGame, now: datetime) -> dict[_Place, _StoredOdds]:
        """Return the stored odds of a game by player, bookmaker and market."""
        latest: dict[_Place, _StoredOdds] = defaultdict(_StoredOdds)
        async for row in self.db.each(GameOdds.of_game(game.game_id)):
            latest["", row.bookmaker, row.market_key].take(row, now)
        if any(price.player is not None for price in game.prices):
            async for prop in self.db.each(PropOdds.of_game(game.game_id)):
                latest[slug(prop.player), prop.bookmaker, prop.market_key].take(prop, now)
        return latest

    async def _store_price(
        self, game: FeedGame, price: FeedPrice, latest: dict[_Place, _StoredOdds], now: datetime
    ) -> bool:
        """Store changed odds and retire the previous ones in one transaction.

        Odds older than the latest are stored but not indexed as the latest.
        """
        stored = latest[slug(price.player or ""), price.bookmaker, price.market_key]
        before = stored.before
        rescheduled = before is not None and before.commence_time != game.commence_time
        if before is not None and not rescheduled and same_prices(before.outcomes, price.outcomes):
            return False
        if before is not None and before.captured_at == now:
            return False
        row = odds_row(game, price, now).replace(latest=not stored.overtaken)
        writes: list[Write] = [row.record()]
        if before is not None and before.latest:
            writes.append(before.retire())
        if not await self.db.try_transaction(*writes):
            return False
        stored.before = row
        return True

    async def _store_bookmakers(self, sport: str, bookmakers: Iterable[str]) -> None:
        stored = {row.bookmaker async for row in self.db.each(SportBookmaker.of_sport(sport))}
        now = self.db.now()
        for name in sorted(set(bookmakers) - stored):
            row = SportBookmaker(sport=sport, bookmaker=name, first_seen=now)
            await self.db.store(row.save())

    def _require_feed(self) -> OddsFeed:
        if self.feed is None:
            raise OddsNotConnected("No odds feed is configured. Set GRANDSTAND_BETS_ODDS_KEY.")
        return self.feed


async def record_quota_use(db: Database, request: str, spent: QuotaUsage) -> None:
    """Record the quota used by a request to the odds feed."""
    use = QuotaUse(
        source="odds",
        at=db.now(),
        what=request,
        credits=spent.credits or 0,
        left=spent.left,
    )
    await db.store(use.record())


def game_error(game: FeedGame, sport: str) -> str | None:
    """Return why a game is invalid, or None."""
    if game.sport != sport:
        return f"The sport is {game.sport}, not {sport}."
    if not slug(game.home_team) or not slug(game.away_team):
        return "A team has no name."
    if slug(game.home_team) == slug(game.away_team):
        return "Both teams have the same name."
    if "#" in game.game_id or not game.game_id:
        return "The game id is invalid."
    return None


def price_error(price: FeedPrice, game: FeedGame) -> str | None:
    """Return why odds are invalid, or None."""
    if not price.bookmaker or "#" in price.bookmaker + price.market_key:
        return "Bookmaker and market need names without #."
    if not 2 <= len(price.outcomes) <= _MAX_OUTCOMES:
        return f"The market has {len(price.outcomes)} outcomes."
    try:
        for outcome in price.outcomes:
            parse_american(outcome.price)
        sides = _sides(price, game)
    except (InvalidPrice, InvalidSelection) as fault:
        return str(fault)
    if len(sides) < len(price.outcomes):
        return "An outcome occurs twice."
    return None


def _sides(price: FeedPrice, game: FeedGame) -> set[object]:
    if is_prop(price.market_key):
        player = price.player or ""
        if not slug(player) or "#" in player:
            raise InvalidSelection("A player market names no player.")
        return {
            parse_prop(price.market_key, player, outcome.name, outcome.point).side
            for outcome in price.outcomes
        }
    selections = parse_outcomes(price.market_key, price.outcomes, game.home_team, game.away_team)
    return {item.side for item in selections}


def same_prices(one: Sequence[PricedOutcome], other: Sequence[PricedOutcome]) -> bool:
    """Return whether two markets have the same prices, in any order."""
    return {(slug(outcome.name), outcome.price, outcome.point) for outcome in one} == {
        (slug(outcome.name), outcome.price, outcome.point) for outcome in other
    }


def odds_row(game: FeedGame, price: FeedPrice, now: datetime) -> GameOdds | PropOdds:
    values = {
        "bookmaker": price.bookmaker,
        "market_key": price.market_key,
        "captured_at": now,
        "outcomes": price.outcomes,
        "created_at": now,
    }
    if price.player is not None:
        return copy_as(PropOdds, game, player=price.player, **values)
    return copy_as(GameOdds, game, **values)


def game_info(game: GameRef | AwaitedGame, known_at: datetime) -> GameInfo:
    return copy_as(GameInfo, game, known_at=known_at)


def awaited_game(game: GameRef | GameInfo) -> AwaitedGame:
    return copy_as(AwaitedGame, game)


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsCleanup:
    """Removes odds of games without a result after a week, unless somebody bet on them."""

    db: Database
    settings: BetsSettings

    async def run(self) -> int:
        """Clean up all sports and return the number of removed odds."""
        removed, before = 0, self.db.now() - timedelta(days=7)
        for sport in self.settings.sports:
            waiting = [
                game async for game in self.db.each(AwaitedGame.started_before(sport, before))
            ]
            for game in waiting:
                removed += await self._remove_odds(game)
        return removed

    async def _remove_odds(self, awaited: AwaitedGame) -> int:
        store, game_id = self.db.store, awaited.game_id
        if (
            await store(GameOutcome.final(awaited.sport, game_id))
            or (await store.page(Wager.of_game(game_id), 1)).items
            or (await store.page(BennyBet.of_game(game_id), 1)).items
        ):
            return 0
        rows = await load_prices(self.db, game_id)
        await store.write_many([row.remove() for row in rows])
        return len(rows)
