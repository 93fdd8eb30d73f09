"""Kept here: the commands that show games, prices and predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli.asking import (
    AsJson,
    Bookmaker,
    Kind,
    Limit,
    Opened,
    Sport,
    sport_of,
    with_bets,
)
from grandstand.apps.bets.cli.words import (
    NONE,
    age,
    percent,
    point,
    price,
    short,
    side,
    signed,
    stamp,
    teams,
)
from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.service import Bets, GameSummary, GameView, Page, PastResult, Pick, Quoted
from grandstand.apps.bets.service import Line as PriceLine
from grandstand.kit.terminal import Column, Line, console, echo_json, print_grid, say, title

Game = Annotated[str, typer.Argument(metavar="GAME", help="A game's id, as `games` lists it.")]
_MARKETS: Final = ("h2h", "h2h_3way", "spreads", "totals")
_GAMES: Final = (
    Column("start (UTC)", from_width=80, whole=True),
    Column("game"),
    Column("book", from_width=120),
    Column("home", right=True),
    Column("draw", right=True, from_width=120),
    Column("away", right=True),
    Column("spread", right=True, from_width=130),
    Column("total", right=True, from_width=130),
    Column("id", whole=True),
)
_PICKS: Final = (
    Column("start (UTC)", from_width=120, whole=True),
    Column("model", whole=True),
    Column("game", from_width=80),
    Column("market", from_width=70),
    Column("pick"),
    Column("chance", right=True),
    Column("price", right=True),
    Column("expected", right=True),
    Column("came", from_width=80),
)
_ABOUT: Final = ("start (UTC)", "game")
_QUOTES: Final = (
    Column("market"),
    Column("book"),
    Column("prices"),
    Column("age", right=True),
)
_PATH: Final = (Column("captured (UTC)"), Column("prices"))


def add_looking(group: typer.Typer, opened: Opened) -> None:
    """Add the commands that show what is on."""
    _add_games(group, opened)
    _add_game(group, opened)
    _add_odds(group, opened)
    _add_analyses(group, opened)


def _add_games(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def games(
        *,
        sport: Sport = None,
        bookmaker: Bookmaker = None,
        limit: Limit = 20,
        as_json: AsJson = False,
    ) -> None:
        """List games to come, soonest first, with a bookmaker's prices."""

        async def found(bets: Bets) -> tuple[str, Page[GameSummary]]:
            name = sport_of(bets, sport)
            return name, await bets.games(name, bookmaker=bookmaker, limit=limit)

        name, page = with_bets(opened, found)
        if as_json:
            echo_json(page.items)
            return
        to = console()
        if not page.items:
            say(to, f"No games of {name} are known: `grandstand bets collect odds` asks the feed.")
            return
        print_grid(to, _GAMES, (_game_line(each) for each in page.items))
        if page.position is not None:
            say(to, "There are more: ask with a higher --limit.", "dim")


def _game_line(game: GameSummary) -> Line:
    quotes = [each for each in game.quotes if each.player is None]
    counts = Counter(each.bookmaker for each in quotes)
    book = max(counts, key=lambda name: counts[name])
    by_market = {each.market_key: each for each in quotes if each.bookmaker == book}
    winner = by_market.get("h2h") or by_market.get("h2h_3way")
    return Line(
        (
            short(game.commence_time),
            teams(game.home_team, game.away_team),
            book,
            _price_of(winner, game.home_team),
            _price_of(winner, "Draw"),
            _price_of(winner, game.away_team),
            _point_of(by_market.get("spreads"), game.home_team, signed=True),
            _point_of(by_market.get("totals"), "Over", signed=False),
            game.game_id,
        )
    )


def _price_of(quote: Quoted | None, name: str) -> str:
    sides = () if quote is None else quote.outcomes
    return next((price(each.price) for each in sides if each.name == name), NONE)


def _point_of(quote: Quoted | None, name: str, *, signed: bool) -> str:
    sides = () if quote is None else quote.outcomes
    found = (point(each.point, signed=signed) for each in sides if each.name == name)
    return next(found, NONE)


def _add_game(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def game(
        game_id: Game,
        *,
        why: Annotated[bool, typer.Option("--why", help="Also each pick's reasons.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Show a game: prices of every book, each model's view, form, meetings and injuries."""
        found = with_bets(opened, lambda bets: bets.game(game_id))
        echo_json(found) if as_json else _print_game(console(), found, why=why)


def _print_game(to: Console, view: GameView, *, why: bool) -> None:
    game = view.game
    title(to, f"{teams(game.home_team, game.away_team)}, {stamp(game.commence_time)} UTC")
    if view.score is not None:
        again = ", corrected" if view.score.corrected_at else ""
        say(to, f"Final score {view.score.home_score} to {view.score.away_score}{again}")
    quotes, about = (game.quotes, "age") if game.quotes else (view.closing, "before the start")
    if quotes:
        to.print()
        columns = (*_QUOTES[:-1], Column(about, right=True))
        lines = (_quote_line(each, game.home_team) for each in sorted(quotes, key=_order))
        print_grid(to, columns, lines)
    for each in view.exchange:
        bid, ask = (NONE if one is None else percent(one / 10_000) for one in (each.bid, each.ask))
        say(to, f"Exchange, {each.team}: bid {bid}, ask {ask} ({each.title})")
    if view.picks:
        to.print()
        print_picks(to, view.picks, why=why, one_game=True)
    to.print()
    _print_past(to, f"Form of {game.home_team}", view.home_form)
    _print_past(to, f"Form of {game.away_team}", view.away_form)
    met = ", ".join(f"{each.team} {_score(each)} {each.opponent}" for each in view.meetings)
    if met:
        say(to, f"Meetings: {met}")
    for hurt in view.injuries:
        say(to, f"{hurt.team}: {hurt.player} {hurt.status} ({hurt.injury}), {hurt.reported_on}")


def _order(quote: Quoted) -> tuple[int, str, str, str]:
    key = quote.market_key
    rank = _MARKETS.index(key) if key in _MARKETS else len(_MARKETS)
    return rank, key, quote.player or "", quote.bookmaker


def _sides(outcomes: Sequence[PricedOutcome], home_team: str) -> str:
    order = sorted(outcomes, key=lambda each: each.name != home_team)
    return ", ".join(f"{side(each)} {price(each.price)}" for each in order)


def _quote_line(quote: Quoted, home_team: str) -> Line:
    sides = _sides(quote.outcomes, home_team)
    told = f"{quote.player}: {sides}" if quote.player else sides
    return Line((quote.market_key, quote.bookmaker, told, age(quote.age_seconds)))


def _print_past(to: Console, about: str, results: tuple[PastResult, ...]) -> None:
    if results:
        told = ", ".join(_past(each) for each in results)
        say(to, f"{about}: {told}")


def _past(one: PastResult) -> str:
    won = one.team_score - one.opponent_score
    letter = "won" if won > 0 else "lost" if won < 0 else "drew"
    where = "v" if one.is_home else "at"
    return f"{letter} {_score(one)} {where} {one.opponent}"


def _score(one: PastResult) -> str:
    return f"{one.team_score}-{one.opponent_score}"


def _add_odds(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def odds(
        game_id: Game,
        *,
        market: Annotated[str, typer.Option("--market", "-m", help="Which market.")] = "h2h",
        bookmaker: Bookmaker = None,
        as_json: AsJson = False,
    ) -> None:
        """Show how the prices of a game moved, book by book, oldest first."""
        view = with_bets(opened, lambda bets: bets.game(game_id))
        lines = [
            each
            for each in view.lines
            if each.market_key == market and bookmaker in {None, each.bookmaker}
        ]
        if as_json:
            echo_json(lines)
            return
        to = console()
        if not lines:
            known = ", ".join(sorted({each.market_key for each in view.lines})) or "none"
            say(to, f"There are no prices of that: the game has these markets: {known}.")
        for each in lines:
            _print_path(to, each, view.game.home_team)


def _print_path(to: Console, line: PriceLine, home_team: str) -> None:
    about = f"{line.bookmaker}, {line.market_key}"
    title(to, f"{about}, {line.player}" if line.player else about)
    rows = (
        Line(
            (
                stamp(each.captured_at),
                _sides(each.outcomes, home_team),
            )
        )
        for each in line.points
    )
    print_grid(to, _PATH, rows)
    to.print()


def _add_analyses(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def analyses(
        model: Annotated[
            str | None, typer.Argument(help="A model; without, the best pick of any.")
        ] = None,
        *,
        sport: Sport = None,
        bookmaker: Bookmaker = None,
        kind: Kind = "game",
        why: Annotated[bool, typer.Option("--why", help="Also the reasons.")] = False,
        limit: Limit = 20,
        as_json: AsJson = False,
    ) -> None:
        """Show what a model predicts for games to come, at a bookmaker's prices."""

        async def found(bets: Bets) -> tuple[Pick, ...]:
            name, book = sport_of(bets, sport), bookmaker or bets.settings.bookmakers[0]
            if model is None:
                top = await bets.top_analysis(name, book)
                return () if top is None else (top,)
            page = await bets.analyses(name, book, model, analysis_type=kind, limit=limit)
            return page.items

        picks = with_bets(opened, found)
        if as_json:
            echo_json(picks)
        elif picks:
            print_picks(console(), picks, why=why)
        else:
            typer.echo("Nothing is predicted: `grandstand bets analyse` lets the models run.")


def print_picks(
    to: Console, picks: tuple[Pick, ...], *, why: bool = False, one_game: bool = False
) -> None:
    """Print predictions, the reasons below the table on demand."""
    kept = [at for at, each in enumerate(_PICKS) if not one_game or each.heading not in _ABOUT]
    lines = map(_pick_line, picks)
    print_grid(
        to,
        [_PICKS[at] for at in kept],
        (Line(tuple(line.cells[at] for at in kept), line.style) for line in lines),
    )
    for each in picks if why else ():
        to.print()
        title(to, f"{each.model}: {each.prediction} ({percent(each.probability)})")
        for one in each.reasons:
            say(to, f"  {one.contribution:+.3f}  {one.text or one.source}")


def _pick_line(pick: Pick) -> Line:
    came = NONE if pick.verdict is None else pick.verdict.replace("_", " ")
    style = {True: "green", False: "dim"}.get(pick.correct, "") if pick.correct is not None else ""
    about = f"{pick.player_name}: {pick.prediction}" if pick.player_name else pick.prediction
    return Line(
        (
            short(pick.commence_time),
            pick.model,
            teams(pick.home_team, pick.away_team),
            pick.market_key,
            about,
            percent(pick.probability),
            price(pick.price),
            signed(pick.expected_return),
            came,
        ),
        style,
    )
