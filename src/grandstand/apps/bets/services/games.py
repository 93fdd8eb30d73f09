"""Upcoming games with their odds and picks, single games, and the search for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Final, TypeVar

from pydantic import Field, computed_field

from grandstand.apps.bets.domain.odds import american_to_decimal
from grandstand.apps.bets.domain.records import GameRef, sport_name
from grandstand.apps.bets.services.database import (
    Database,
    ExactNumber,
    Outcome,
    check_sport,
    copy_as,
)
from grandstand.apps.bets.services.predictions import (
    Pick,
    PredictionService,
    load_prices,
    player_of,
    row_selections,
)
from grandstand.apps.bets.services.settlement import load_closing_lines
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    GameInfo,
    GameOdds,
    GameOutcome,
    HistoricalOdds,
    Injury,
    PropOdds,
    ResultRecord,
    SportBookmaker,
    TeamOutcome,
)
from grandstand.core.errors import GrandstandError, InvalidInput, NotFound
from grandstand.kit.app import ExchangePrice, ExchangePrices, HomeCard, SearchHit
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Page
from grandstand.kit.text_search import MAX_HITS, best_matches, match_rank

T = TypeVar("T")
_MEETINGS: Final = 10


@dataclass(frozen=True, slots=True)
class MarketOdds:
    """A bookmaker's latest odds in a market; `age_seconds` since the feed last confirmed them."""

    bookmaker: str
    market_key: str
    outcomes: tuple[Outcome, ...]
    captured_at: datetime
    age_seconds: int
    player: str | None = None


@dataclass(frozen=True, slots=True)
class PlayerProp(GameRef):
    """A bookmaker's odds on a player."""

    player: str
    bookmaker: str
    market_key: str
    outcomes: tuple[Outcome, ...]
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class GameSummary(GameRef):
    """A game with the latest odds of every bookmaker.

    In JSON the odds are grouped by bookmaker and market, without player props. `captured_at` is the
    time since which they stand; `age_seconds` counts from their last confirmation.
    """

    quotes: Annotated[tuple[MarketOdds, ...], Field(exclude=True)]
    picks: Annotated[tuple[Pick, ...], Field(exclude=True)] = ()
    home_path: Annotated[tuple[tuple[datetime, float], ...], Field(exclude=True)] = ()
    exchange: tuple[ExchangePrice, ...] = ()

    @computed_field
    def updated_at(self) -> datetime | None:
        times = (quote.captured_at for quote in self.quotes if quote.player is None)
        return max(times, default=None)

    @computed_field
    def odds(self) -> dict[str, dict[str, tuple[Outcome, ...]]]:
        return self._by_market(lambda quote: quote.outcomes)

    @computed_field
    def captured_at(self) -> dict[str, dict[str, datetime]]:
        return self._by_market(lambda quote: quote.captured_at)

    @computed_field
    def age_seconds(self) -> dict[str, dict[str, int]]:
        return self._by_market(lambda quote: quote.age_seconds)

    def _by_market(self, value: Callable[[MarketOdds], T]) -> dict[str, dict[str, T]]:
        values: dict[str, dict[str, T]] = {}
        for quote in self.quotes:
            if quote.player is None:
                values.setdefault(quote.bookmaker, {})[quote.market_key] = value(quote)
        return values


@dataclass(frozen=True, slots=True)
class LinePoint:
    captured_at: datetime
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class LineHistory:
    """All odds of a bookmaker in a market, oldest first."""

    bookmaker: str
    market_key: str
    points: tuple[LinePoint, ...]
    player: str | None = None


@dataclass(frozen=True, slots=True)
class PastResult:
    """A completed game from one team's point of view."""

    game_id: str
    completed_at: datetime
    team: str
    opponent: str
    team_score: ExactNumber
    opponent_score: ExactNumber
    is_home: bool


@dataclass(frozen=True, slots=True)
class InjuryView:
    """The latest report of an injury."""

    team: str
    player: str
    status: str
    injury: str
    reported_on: date


@dataclass(frozen=True, slots=True)
class FinalScore:
    """The final score; `corrected_at` is set if it was corrected."""

    home_score: ExactNumber
    away_score: ExactNumber
    completed_at: datetime
    corrected_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GameView:
    """Everything about a game."""

    game: GameSummary
    lines: tuple[LineHistory, ...]
    closing: tuple[MarketOdds, ...]
    picks: Annotated[tuple[Pick, ...], Field(serialization_alias="analyses")]
    home_form: tuple[PastResult, ...]
    away_form: tuple[PastResult, ...]
    meetings: tuple[PastResult, ...]
    injuries: tuple[InjuryView, ...]
    score: FinalScore | None = None

    @computed_field
    def props(self) -> tuple[PlayerProp, ...]:
        game = self.game
        return tuple(
            copy_as(
                PlayerProp,
                game,
                player=quote.player,
                bookmaker=quote.bookmaker,
                market_key=quote.market_key,
                outcomes=quote.outcomes,
                updated_at=quote.captured_at,
            )
            for quote in game.quotes
            if quote.player is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GameBoard:
    """Upcoming games and everything stored about a game."""

    db: Database
    settings: BetsSettings
    predictions: PredictionService
    exchange_prices: ExchangePrices | None = None

    async def bookmakers(self, sport: str) -> tuple[str, ...]:
        """Return the bookmakers with odds in a sport."""
        rows = self.db.each(SportBookmaker.of_sport(check_sport(self.settings, sport)))
        return tuple([row.bookmaker async for row in rows])

    async def upcoming(
        self,
        sport: str,
        *,
        bookmaker: str | None = None,
        limit: int = 20,
        after: str | None = None,
    ) -> Page[GameSummary]:
        """Return upcoming games and those started in the last three hours, soonest first.

        Each game has its latest odds, the line movement of the home team and every model's pick.

        Raises:
        NotFound if the sport is not enabled.
        """
        rows_by_game, position = await self._latest_odds(sport, limit, after)
        games = []
        for rows in rows_by_game:
            quoted = [row for row in rows if bookmaker is None or row.bookmaker == bookmaker]
            if not quoted:
                continue
            first = rows[0]
            info = await self.db.store(GameInfo.of_game(first.game_id))
            game = copy_as(
                GameSummary,
                first,
                quotes=tuple(self._market_odds(row, info) for row in quoted),
                picks=await self.predictions.for_game(first.sport, first.game_id),
                home_path=await self._line_movement(first),
                exchange=await self._exchange(first),
            )
            games.append(game)
        return Page(tuple(games), position)

    async def _latest_odds(
        self, sport: str, limit: int, after: str | None
    ) -> tuple[list[list[GameOdds]], str | None]:
        """Load the latest odds of up to `limit` games; a game is never split between pages."""
        start, last = self.db.now() - timedelta(hours=3), ""
        if after is not None:
            start, last = _parse_position(after)
        by_game: dict[str, list[GameOdds]] = {}
        query = GameOdds.upcoming(check_sport(self.settings, sport), start)
        async for row in self.db.each(query):
            if after is not None and (row.commence_time, row.game_id) <= (start, last):
                continue
            later = len(by_game) > limit and row.game_id not in by_game
            if later and row.commence_time > max(
                item[0].commence_time for item in by_game.values()
            ):
                break
            by_game.setdefault(row.game_id, []).append(row)
        order = sorted(by_game.values(), key=lambda rows: (rows[0].commence_time, rows[0].game_id))
        if not 0 < limit < len(order):
            return order[:limit], None
        final = order[limit - 1][0]
        return order[:limit], f"{final.commence_time.isoformat()}|{final.game_id}"

    def _market_odds(self, row: GameOdds | PropOdds, info: GameInfo | None) -> MarketOdds:
        age = int((self.db.now() - last_confirmed_at(row, info)).total_seconds())
        return MarketOdds(
            row.bookmaker,
            row.market_key,
            row.outcomes,
            row.captured_at,
            max(0, age),
            player_of(row),
        )

    async def _line_movement(self, row: GameOdds) -> tuple[tuple[datetime, float], ...]:
        """Return how the home team's fair probability moved at the first bookmaker."""
        for bookmaker in (*self.settings.bookmakers, row.bookmaker):
            history = GameOdds.history(row.game_id, bookmaker, "h2h").newest(40)
            if rows := await self.db.store(history):
                return tuple((row.captured_at, home_win_probability(row)) for row in rows[::-1])
        return ()

    async def _exchange(self, row: GameOdds) -> tuple[ExchangePrice, ...]:
        exchange = self.exchange_prices
        if exchange is None:
            return ()
        try:
            return await exchange.of_game(
                row.sport, row.home_team, row.away_team, row.commence_time
            )
        except GrandstandError:
            return ()

    async def get(self, game_id: str) -> GameView:
        """Return everything about a game.

        Raises NotFound if there is no such game.
        """
        info = await self.db.store(GameInfo.of_game(game_id)) if "#" not in game_id else None
        if info is None:
            raise NotFound(f"Game {game_id!r} does not exist.")
        rows = await load_prices(self.db, game_id)
        winners = [row for row in rows if isinstance(row, GameOdds)]
        closing = await load_closing_lines(self.db, game_id)
        summary = copy_as(
            GameSummary,
            info,
            quotes=tuple(self._market_odds(row, info) for row in rows if row.latest),
            home_path=await self._line_movement(winners[0]) if winners else (),
            exchange=await self._exchange(winners[0]) if winners else (),
        )
        return GameView(
            summary,
            line_histories(rows),
            tuple(_closing_odds(row) for row in closing),
            await self.predictions.for_game(info.sport, game_id),
            await self._form(info.sport, info.home_team),
            await self._form(info.sport, info.away_team),
            await self._meetings(info),
            await self._injuries(info),
            await self._score(info),
        )

    async def _form(self, sport: str, team: str) -> tuple[PastResult, ...]:
        recent = await self.db.store(TeamOutcome.recent(sport, team, 5))
        return tuple(copy_as(PastResult, row) for row in recent)

    async def _meetings(self, info: GameInfo) -> tuple[PastResult, ...]:
        """Return the last meetings of two teams with their latest corrections."""
        query = GameOutcome.meetings(info.sport, info.home_team, info.away_team, 2 * _MEETINGS)
        last: dict[str, GameOutcome] = {}
        for outcome in await self.db.store(query):
            previous = last.get(outcome.game_id)
            if previous is None or _last_update(outcome) > _last_update(previous):
                last[outcome.game_id] = outcome
        return tuple(
            PastResult(
                outcome.game_id,
                outcome.completed_at,
                outcome.home_team,
                outcome.away_team,
                outcome.home_score,
                outcome.away_score,
                True,
            )
            for outcome in list(last.values())[:_MEETINGS]
        )

    async def _injuries(self, info: GameInfo) -> tuple[InjuryView, ...]:
        last: dict[tuple[str, str], Injury] = {}
        for team in (info.home_team, info.away_team):
            async for row in self.db.each(Injury.of_team(info.sport, team)):
                last[team, row.player] = row
        return tuple(
            copy_as(InjuryView, row, team=team)
            for (team, _), row in last.items()
            if row.status != "active"
        )

    async def _score(self, info: GameInfo) -> FinalScore | None:
        outcomes = await self.db.store(GameOutcome.final(info.sport, info.game_id))
        return copy_as(FinalScore, outcomes[0]) if outcomes else None

    async def props(
        self,
        sport: str,
        *,
        bookmaker: str | None = None,
        market_key: str | None = None,
        limit: int = 20,
        after: str | None = None,
    ) -> Page[PlayerProp]:
        """Return player props of upcoming games."""
        query = PropOdds.upcoming(check_sport(self.settings, sport), self.db.now())
        if bookmaker is not None:
            query = query.where(PropOdds.bookmaker == bookmaker)
        if market_key is not None:
            query = query.where(PropOdds.market_key == market_key)
        page = await self.db.store.page(query, limit, after=after)
        props = tuple(copy_as(PlayerProp, row, updated_at=row.captured_at) for row in page.items)
        return Page(props, page.cursor)


async def load_game_infos(db: Database, game_ids: Iterable[str]) -> dict[str, GameInfo]:
    infos = await db.store.get_many(GameInfo.of_game(game_id) for game_id in sorted(set(game_ids)))
    return {info.game_id: info for info in infos if info is not None}


def last_confirmed_at(row: GameOdds | PropOdds, info: GameInfo | None) -> datetime:
    """Return when the feed last reported these odds, changed or not."""
    confirmed_at = None if info is None else (info.quoted_at or {}).get(row.bookmaker)
    return row.captured_at if confirmed_at is None else max(confirmed_at, row.captured_at)


def home_win_probability(row: GameOdds) -> float:
    """Return the home team's probability without the margin."""
    from grandstand.apps.bets.domain.odds import devig

    chances = devig([american_to_decimal(outcome.price) for outcome in row.outcomes])
    sides = [selection.side for selection in row_selections(row)]
    return chances[sides.index("home")]


def line_histories(rows: Iterable[GameOdds | PropOdds]) -> tuple[LineHistory, ...]:
    rows_by_line: dict[tuple[str, str, str], list[GameOdds | PropOdds]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.captured_at):
        rows_by_line[row.bookmaker, row.market_key, player_of(row) or ""].append(row)
    return tuple(
        LineHistory(
            bookmaker,
            market,
            tuple(LinePoint(point.captured_at, point.outcomes) for point in points),
            player or None,
        )
        for (bookmaker, market, player), points in sorted(rows_by_line.items())
    )


def _last_update(outcome: GameOutcome) -> datetime:
    return outcome.corrected_at or outcome.completed_at


def _closing_odds(row: HistoricalOdds) -> MarketOdds:
    age = int((row.commence_time - row.updated_at).total_seconds())
    return MarketOdds(row.bookmaker, row.market_key, row.outcomes, row.updated_at, age, row.player)


def _parse_position(text: str) -> tuple[datetime, str]:
    moment, _, game_id = text.partition("|")
    try:
        return datetime.fromisoformat(moment), game_id
    except ValueError as fault:
        raise InvalidInput("Invalid cursor. Start again without one.") from fault


_BACK: Final = timedelta(days=14)
_AHEAD: Final = timedelta(days=30)
_DAY: Final = timedelta(days=1)
_TEAMS: Final = 3


@dataclass(frozen=True, slots=True)
class _Game(GameRef):
    score: str = ""

    @property
    def title(self) -> str:
        return f"{self.home_team} v {self.away_team}"

    @property
    def detail(self) -> str:
        status = self.score or f"{self.commence_time:%a %d %b %H:%M} UTC"
        return f"{sport_name(self.sport)}, {status}"

    @property
    def href(self) -> str:
        return f"/bets/games/{self.game_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSearch:
    """Searches the games of the last two weeks and the next 30 days."""

    db: Database
    settings: BetsSettings

    async def search(self, query: str, _caller: Caller) -> tuple[SearchHit, ...]:
        """Return matching teams with their nearest game, then matching games."""
        games = [
            game
            for sport in self.settings.sports
            for game in await self._of_sport(sport)
            if match_rank(query, game.home_team, game.away_team, sport_name(game.sport)) is not None
        ]
        now = self.db.now()
        games.sort(key=lambda game: (abs(game.commence_time - now), game.commence_time < now))
        teams = self._teams(query, games)
        matches = best_matches(query, games, lambda one: (one.title, sport_name(one.sport)))
        hits = (SearchHit("game", game.title, game.detail, game.href) for game in matches)
        return (*teams, *hits)[:MAX_HITS]

    async def home_card(self, _caller: Caller) -> HomeCard:
        """Return the home card: the number of games in the next 24 hours and the next game."""
        now = self.db.now()
        upcoming = [
            copy_as(_Game, row)
            for sport in self.settings.sports
            async for row in self.db.each(AwaitedGame.between(sport, now, now + _AHEAD))
        ]
        if not upcoming:
            return HomeCard("Games and odds", self._empty_state(), "/bets")
        game = min(upcoming, key=lambda game: game.commence_time)
        count = sum(game.commence_time - now <= _DAY for game in upcoming)
        games = f"{count} {'game' if count == 1 else 'games'} today" if count else "No games today"
        return HomeCard(games, f"Next: {game.title} ({game.detail})", game.href, live=count > 0)

    def _empty_state(self) -> str:
        if self.settings.odds_key is None:
            return "Configure an odds feed to see games."
        return "No games yet. The status page shows whether the odds feed responds."

    def _teams(self, query: str, games: Iterable[_Game]) -> tuple[SearchHit, ...]:
        """Return the matching teams, each with its nearest game."""
        now, first = self.db.now(), dict[str, _Game]()
        for game in sorted(games, key=lambda game: game.commence_time < now):
            for team in (game.home_team, game.away_team):
                first.setdefault(team, game)
        named = best_matches(query, first, lambda team: (team,), _TEAMS)
        return tuple(_team_hit(team, first[team], now) for team in named)

    async def _of_sport(self, sport: str) -> list[_Game]:
        now, games = self.db.now(), dict[str, _Game]()
        async for row in self.db.each(AwaitedGame.between(sport, now - _BACK, now + _AHEAD)):
            games[row.game_id] = copy_as(_Game, row)
        async for line in self.db.each(ResultRecord.between(sport, now - _BACK, now)):
            score = f"{line.home_score}\u2013{line.away_score}, {line.commence_time:%a %d %b}"
            games[line.game_id] = copy_as(_Game, line, score=score)
        return list(games.values())


def _team_hit(team: str, game: _Game, now: datetime) -> SearchHit:
    opponent = game.away_team if team == game.home_team else game.home_team
    when = "last" if game.commence_time < now else "next"
    detail = (
        f"{sport_name(game.sport)}, {when} against {opponent}: {game.detail.partition(', ')[2]}"
    )
    return SearchHit("team", team, detail, game.href)
