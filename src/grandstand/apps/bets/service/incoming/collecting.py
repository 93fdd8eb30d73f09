"""Kept here: prices as they come in: what changed is kept, what cannot be used is refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from grandstand.apps.bets.model import PricedOutcome, slug
from grandstand.apps.bets.model.errors import (
    OutcomeUnknown,
    PriceImpossible,
    SelectionImpossible,
)
from grandstand.apps.bets.model.feeds import FedGame, FedGames, FedPrice, Spent
from grandstand.apps.bets.model.prices.odds import parse_american
from grandstand.apps.bets.model.selections import is_prop, prop_of, selections_of
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.ports import OddsFeed
from grandstand.apps.bets.service.refusals import OddsNotConnected
from grandstand.apps.bets.service.values import Collected, Refusal
from grandstand.apps.bets.store import (
    Awaited,
    BookmakerSeen,
    GameNote,
    GameOdds,
    PropOdds,
    QuotaUse,
)
from grandstand.storage.tables.operations.batches import Write

_SOURCE: Final = "odds"
_PROPS_AHEAD: Final = timedelta(days=2)
_LEAST_SIDES: Final = 2
_MOST_SIDES: Final = 3

# A player or none, a bookmaker and a market.
_Place: TypeAlias = tuple[str, str, str]


@dataclass(slots=True)
class _Standing:
    """The last price of a book's market up to a moment, and whether a later one is known."""

    before: GameOdds | PropOdds | None = None
    overtaken: bool = False

    def take(self, row: GameOdds | PropOdds, now: datetime) -> None:
        """Know one more of its prices."""
        if row.captured_at > now:
            self.overtaken = True
        elif self.before is None or row.captured_at > self.before.captured_at:
            self.before = row


class Collecting:
    """Fetches prices and keeps those that changed, each with the flip of the one before."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def odds(self, sport: str) -> Collected:
        """Fetch and keep a sport's prices; raise SportUnknown and what the feed does."""
        feed = self._feed()
        told = await feed.fetch_odds(self._means.sport(sport), self._means.settings.markets)
        await note_spent(self._means, f"odds/{sport}", told.spent)
        return await self.keep(sport, told)

    async def props(self, sport: str) -> Collected:
        """Fetch and keep prices about players in the games of the next days."""
        feed, now = self._feed(), self._means.now()
        seen, written, cost = 0, 0, 0
        refused: list[Refusal] = []
        awaited = Awaited.between(self._means.sport(sport), now, now + _PROPS_AHEAD)
        for each in [one async for one in self._means.each(awaited)]:
            told = await feed.fetch_props(sport, each.game_id, self._means.settings.prop_markets)
            await note_spent(self._means, f"props/{each.game_id}", told.spent)
            one = await self.keep(sport, told)
            seen, written, cost = seen + one.seen, written + one.written, cost + one.credits
            refused += one.refused
        return Collected(sport, seen, written, tuple(refused), cost)

    async def keep(self, sport: str, told: FedGames) -> Collected:
        """Keep what changed of what was told; nothing of a game that cannot be used."""
        refused = [Refusal(each.what, each.why) for each in told.refused]
        seen, written = 0, 0
        met: set[str] = set()
        for game in told.games:
            wrong = fault_of(game, sport)
            if wrong is not None:
                refused.append(Refusal(game.game_id, wrong))
                continue
            kept, faults = await self._keep_game(game)
            seen += len(game.prices)
            written += kept
            refused += faults
            met |= {price.bookmaker for price in game.prices}
        await self._meet(sport, met)
        if written:
            self._means.teller.tell(f"bets/games/{sport}", {"written": written})
        return Collected(sport, seen, written, tuple(refused), told.spent.credits or 0)

    async def _keep_game(self, game: FedGame) -> tuple[int, list[Refusal]]:
        now = self._means.now()
        if game.commence_time <= now:
            return 0, [Refusal(game.game_id, "it has begun: prices in play are not kept")]
        await self._note(game, now)
        standing = await self._standing(game, now)
        written, refused = 0, []
        for price in game.prices:
            wrong = price_fault(price, game)
            if wrong is not None:
                refused.append(
                    Refusal(f"{game.game_id}/{price.bookmaker}/{price.market_key}", wrong)
                )
                continue
            written += await self._keep_price(game, price, standing, now)
        return written, refused

    async def _note(self, game: FedGame, now: datetime) -> None:
        """Know a game by its id, when its prices were told, and await its result.

        A game that was moved is awaited anew. What is heard late does not make news older.
        """
        store = self._means.store
        known = await store(GameNote.of_game(game.game_id))
        told = {price.bookmaker: now for price in game.prices}
        if known is not None and known.commence_time == game.commence_time:
            before = known.told_at or {}
            told = {book: max(at, before.get(book, at)) for book, at in told.items()}
            known_at = min(known.known_at, now)
            await store(known.replace(told_at={**before, **told}, known_at=known_at).keep())
            return
        note = note_of(game, now).replace(told_at=told)
        writes: list[Write] = [note.keep(), awaited_of(game).expect()]
        if known is not None:
            writes.append(awaited_of(known).cease())
        await store.all(*writes)

    async def _standing(self, game: FedGame, now: datetime) -> dict[_Place, _Standing]:
        """Answer what is known of a game's prices, by player, bookmaker and market."""
        found: dict[_Place, _Standing] = defaultdict(_Standing)
        async for row in self._means.each(GameOdds.of_game(game.game_id)):
            found["", row.bookmaker, row.market_key].take(row, now)
        if any(price.player is not None for price in game.prices):
            async for prop in self._means.each(PropOdds.of_game(game.game_id)):
                found[slug(prop.player), prop.bookmaker, prop.market_key].take(prop, now)
        return found

    async def _keep_price(
        self, game: FedGame, price: FedPrice, standing: dict[_Place, _Standing], now: datetime
    ) -> bool:
        """Keep a price that changed and take the one before out of the index, in one go.

        One that is older than the latest is kept in its place, out of the index.
        """
        known = standing[slug(price.player or ""), price.bookmaker, price.market_key]
        before = known.before
        moved = before is not None and before.commence_time != game.commence_time
        if before is not None and not moved and same(before.outcomes, price.outcomes):
            return False
        if before is not None and before.captured_at == now:
            return False
        row = row_of(game, price, now).replace(latest=not known.overtaken)
        writes: list[Write] = [row.record()]
        if before is not None and before.latest:
            writes.append(before.retire())
        if not await self._means.wrote(*writes):
            return False
        known.before = row
        return True

    async def _meet(self, sport: str, bookmakers: Iterable[str]) -> None:
        known = {each.bookmaker async for each in self._means.each(BookmakerSeen.of_sport(sport))}
        now = self._means.now()
        for name in sorted(set(bookmakers) - known):
            seen = BookmakerSeen(sport=sport, bookmaker=name, first_seen=now)
            await self._means.store(seen.note())

    def _feed(self) -> OddsFeed:
        feed = self._means.odds
        if feed is None:
            raise OddsNotConnected("There is no feed of odds: set GRANDSTAND_BETS_ODDS_KEY")
        return feed


async def note_spent(means: Means, what: str, spent: Spent) -> None:
    """Enter what a question took of the odds feed's quota into its ledger."""
    use = QuotaUse(
        source=_SOURCE,
        at=means.now(),
        what=what,
        credits=spent.credits or 0,
        left=spent.left,
    )
    await means.store(use.record())


def fault_of(game: FedGame, sport: str) -> str | None:
    """Say why a game cannot be used; None when it can."""
    if game.sport != sport:
        return f"it is of {game.sport}, not of {sport}"
    if not slug(game.home_team) or not slug(game.away_team):
        return "a team has no name"
    if slug(game.home_team) == slug(game.away_team):
        return "both teams have the same name"
    if "#" in game.game_id or not game.game_id:
        return "its id cannot be used"
    return None


def price_fault(price: FedPrice, game: FedGame) -> str | None:
    """Say why a price cannot be used; None when it can."""
    if not price.bookmaker or "#" in price.bookmaker + price.market_key:
        return "bookmaker and market need names without #"
    if not _LEAST_SIDES <= len(price.outcomes) <= _MOST_SIDES:
        return f"it has {len(price.outcomes)} sides"
    try:
        for each in price.outcomes:
            parse_american(each.price)
        sides = _sides(price, game)
    except (PriceImpossible, OutcomeUnknown, SelectionImpossible) as fault:
        return str(fault)
    if len(sides) < len(price.outcomes):
        return "one side is in it twice"
    return None


def _sides(price: FedPrice, game: FedGame) -> set[object]:
    if is_prop(price.market_key):
        player = price.player or ""
        if not slug(player) or "#" in player:
            message = "a price about a player names none"
            raise SelectionImpossible(message)
        return {
            prop_of(price.market_key, player, each.name, each.point).side for each in price.outcomes
        }
    found = selections_of(price.market_key, price.outcomes, game.home_team, game.away_team)
    return {each.side for each in found}


def same(one: Sequence[PricedOutcome], other: Sequence[PricedOutcome]) -> bool:
    """Tell whether two markets have the same prices, in whatever order their sides stand."""
    return {(slug(e.name), e.price, e.point) for e in one} == {
        (slug(e.name), e.price, e.point) for e in other
    }


def row_of(game: FedGame, price: FedPrice, now: datetime) -> GameOdds | PropOdds:
    """Answer a price as the table keeps it."""
    if price.player is not None:
        return PropOdds(
            game_id=game.game_id,
            sport=game.sport,
            home_team=game.home_team,
            away_team=game.away_team,
            bookmaker=price.bookmaker,
            market_key=price.market_key,
            captured_at=now,
            commence_time=game.commence_time,
            outcomes=price.outcomes,
            created_at=now,
            player=price.player,
        )
    return GameOdds(
        game_id=game.game_id,
        sport=game.sport,
        home_team=game.home_team,
        away_team=game.away_team,
        bookmaker=price.bookmaker,
        market_key=price.market_key,
        captured_at=now,
        commence_time=game.commence_time,
        outcomes=price.outcomes,
        created_at=now,
    )


def note_of(game: FedGame, now: datetime) -> GameNote:
    """Answer what a game's id leads to."""
    return GameNote(
        game_id=game.game_id,
        sport=game.sport,
        home_team=game.home_team,
        away_team=game.away_team,
        commence_time=game.commence_time,
        known_at=now,
    )


def awaited_of(game: FedGame | GameNote) -> Awaited:
    """Answer that a game's result is awaited."""
    return Awaited(
        sport=game.sport,
        game_id=game.game_id,
        home_team=game.home_team,
        away_team=game.away_team,
        commence_time=game.commence_time,
    )
