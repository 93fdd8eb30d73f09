"""Kept here: the board of games by sport, and one game with everything known of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.pages.boards import (
    MARKETS,
    Agreed,
    PriceSheet,
    agreed,
    sheet_from,
    sheet_of,
)
from grandstand.apps.bets.pages.part import GameId, PagesPart, chosen
from grandstand.apps.bets.pages.plots import line_charts
from grandstand.apps.bets.pages.words import signed_percent
from grandstand.apps.bets.service import GameSummary, GameView, Pick
from grandstand.kit.pages.shown import percent
from grandstand.kit.routes import Who, page

_GAMES: Final = 10
_MINUTE: Final = 60
_FOREVER: Final = 10**12
_SAID: Final = {
    "liked": "It is among your favourites; you will be told of its games.",
    "unliked": "It is no longer among your favourites.",
}


@dataclass(frozen=True, slots=True)
class BoardGame:
    """A game as the board shows it."""

    game: GameSummary
    sheet: PriceSheet
    picks: tuple[Agreed, ...]
    path: tuple[float, ...]
    moved: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """What a model makes of a game: its picks market by market, each with its inverse."""

    model: str
    picks: tuple[tuple[Pick, Pick | None], ...]
    most: float


class GamePages(PagesPart):
    """What is on, and what is known of it."""

    @page("")
    async def board(self, request: Request, who: Who) -> Response:
        """The games of a sport that are to come, with every book's prices."""
        del who
        sport = self._sport(request)
        market = chosen(request, "market", MARKETS, "h2h")
        after = request.query_params.get("after") or None
        found = await self._bets.games(sport, limit=_GAMES, after=after)
        return self._render(
            request,
            "board",
            here="games",
            sports=self._bets.sports(),
            sport=sport,
            market=market,
            markets=MARKETS,
            games=[board_game(one, market, self._stale_seconds) for one in found.items],
            position=found.position,
            paged=after is not None,
            connected=self._bets.settings.odds_key is not None,
        )

    @page("/games/{game_id}")
    async def game(self, request: Request, who: Who, game_id: GameId) -> Response:
        """One game: lines, what each model makes of it, injuries, form and earlier meetings."""
        view = await self._bets.game(game_id)
        game, over = view.game, view.score is not None
        sheets = [sheet_of(game, market, self._stale_seconds) for market in MARKETS]
        closing = [sheet_from(game, view.closing, market, _FOREVER) for market in MARKETS]
        liked = {slug(one.team) for one in await self._bets.favourites(who)}
        return self._render(
            request,
            "game",
            here="games",
            view=view,
            game=game,
            over=over,
            begun=game.commence_time <= self._bets.now(),
            sheets=[one for one in sheets if one.rows],
            closing=[one for one in closing if one.rows],
            charts=line_charts(view),
            models=model_views(view.picks),
            props=[one for one in view.picks if one.analysis_type == "prop"],
            liked=[team for team in (game.home_team, game.away_team) if slug(team) in liked],
            forms=((game.home_team, view.home_form), (game.away_team, view.away_form)),
            summary=in_words(view),
            stale_minutes=self._bets.settings.stale_minutes,
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @property
    def _stale_seconds(self) -> int:
        return self._bets.settings.stale_minutes * _MINUTE


def board_game(game: GameSummary, market: str, stale_seconds: int) -> BoardGame:
    """Answer a game as the board shows it in one market."""
    path = tuple(chance for _, chance in game.home_path)
    moved = f"{game.home_team}’s chance"
    if path:
        change = signed_percent(path[-1] - path[0])
        moved = (
            f"{game.home_team}’s chance, now {percent(path[-1])}, {change} since the first price"
        )
    sheet = sheet_of(game, market, stale_seconds)
    return BoardGame(game, sheet, agreed(game.picks, market), path, moved)


def model_views(picks: Iterable[Pick]) -> tuple[ModelView, ...]:
    """Answer what each model makes of a game, the surest first."""
    held: dict[str, list[Pick]] = {}
    inverses: dict[tuple[str, str], Pick] = {}
    for pick in picks:
        if pick.analysis_type != "game":
            continue
        if pick.is_inverse:
            inverses[pick.model, pick.market_key] = pick
        else:
            held.setdefault(pick.model, []).append(pick)
    views = (
        ModelView(
            model,
            tuple((one, inverses.get((model, one.market_key))) for one in mine),
            _most(mine),
        )
        for model, mine in held.items()
    )
    return tuple(sorted(views, key=lambda one: -max(pick.probability for pick, _ in one.picks)))


def in_words(view: GameView) -> str:
    """Say in a sentence what is known of a game."""
    games = sum(1 for pick in view.picks if not pick.is_inverse and pick.analysis_type == "game")
    books = len({quote.bookmaker for quote in view.game.quotes or view.closing})
    parts = [
        f"{books} {'book' if books == 1 else 'books'}",
        f"{games} {'prediction' if games == 1 else 'predictions'}",
    ]
    if view.exchange:
        parts.append("an exchange price")
    return ", ".join(parts)


def _most(picks: Sequence[Pick]) -> float:
    """The largest contribution, which the bars are drawn against."""
    sizes = [abs(one.contribution) for pick in picks for one in pick.reasons]
    return max(sizes, default=0.0) or 1.0
