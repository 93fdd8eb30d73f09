"""Commands for games, odds, picks and line shopping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli import console as cli
from grandstand.apps.bets.domain.records import PricedOutcome
from grandstand.apps.bets.services import Bets
from grandstand.apps.bets.services.games import GameSummary, GameView, MarketOdds, PastResult
from grandstand.apps.bets.services.games import LineHistory as PriceLine
from grandstand.apps.bets.services.line_shopping import (
    BestPrice,
    Leg,
    StaleLine,
    fair_odds,
)
from grandstand.apps.bets.services.predictions import Pick
from grandstand.kit.cursors import Page
from grandstand.kit.terminal import (
    ColumnSpec,
    TableRow,
    console,
    echo_json,
    print_line,
    print_results,
    print_table,
    print_title,
)

Game = Annotated[str, typer.Argument(metavar="GAME", help="A game id from `games`.")]
_MARKETS: Final = ("h2h", "h2h_3way", "spreads", "totals")
_GAMES: Final = (
    ColumnSpec("start (UTC)", from_width=80, whole=True),
    ColumnSpec("game"),
    ColumnSpec("book", from_width=120),
    ColumnSpec("home", right=True),
    ColumnSpec("draw", right=True, from_width=120),
    ColumnSpec("away", right=True),
    ColumnSpec("spread", right=True, from_width=130),
    ColumnSpec("total", right=True, from_width=130),
    ColumnSpec("id", whole=True),
)
_PICKS: Final = (
    ColumnSpec("start (UTC)", from_width=120, whole=True),
    ColumnSpec("model", whole=True),
    ColumnSpec("game", from_width=80),
    ColumnSpec("market", from_width=70),
    ColumnSpec("pick"),
    ColumnSpec("probability", right=True),
    ColumnSpec("price", right=True),
    ColumnSpec("expected", right=True),
    ColumnSpec("result", from_width=80),
)
_ABOUT: Final = ("start (UTC)", "game")
_QUOTES: Final = (
    ColumnSpec("market"),
    ColumnSpec("book"),
    ColumnSpec("prices"),
    ColumnSpec("age", right=True),
)
_PATH: Final = (ColumnSpec("captured (UTC)"), ColumnSpec("prices"))


def add_game_commands(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    """Add the commands that show games, odds and picks."""
    _add_games(group, with_bets)
    _add_game(group, with_bets)
    _add_analyses(group, with_bets)


def _add_games(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def games(
        *,
        sport: cli.Sport = None,
        bookmaker: cli.Bookmaker = None,
        limit: cli.Limit = 20,
        as_json: cli.AsJson = False,
    ) -> None:
        """List upcoming games with a bookmaker's odds, soonest first."""

        async def load(bets: Bets) -> tuple[str, Page[GameSummary]]:
            name = cli.resolve_sport(bets, sport)
            return name, await bets.games.upcoming(name, bookmaker=bookmaker, limit=limit)

        name, page = with_bets(load)
        if as_json:
            echo_json(page.items)
            return
        to = console()
        if not page.items:
            print_line(to, f"No {name} games. Run `grandstand bets collect odds` to collect them.")
            return
        print_table(to, _GAMES, (_game_line(item) for item in page.items))
        if page.cursor is not None:
            print_line(to, "There are more games. Increase --limit.", "dim")


def _game_line(game: GameSummary) -> TableRow:
    quotes = [quote for quote in game.quotes if quote.player is None]
    counts = Counter(quote.bookmaker for quote in quotes)
    book = max(counts, key=lambda name: counts[name])
    by_market = {quote.market_key: quote for quote in quotes if quote.bookmaker == book}
    winner = by_market.get("h2h") or by_market.get("h2h_3way")
    sides = (_outcome(winner, name) for name in (game.home_team, "Draw", game.away_team))
    spread = _outcome(by_market.get("spreads"), game.home_team)
    total = _outcome(by_market.get("totals"), "Over")
    return TableRow(
        (
            cli.format_day_time(game.commence_time),
            cli.format_teams(game.home_team, game.away_team),
            book,
            *(cli.NONE if side is None else cli.format_price(side.price) for side in sides),
            cli.NONE if spread is None else cli.format_point(spread.point),
            cli.NONE if total is None else cli.format_point(total.point, signed=False),
            game.game_id,
        )
    )


def _outcome(quote: MarketOdds | None, name: str) -> PricedOutcome | None:
    outcomes = () if quote is None else quote.outcomes
    return next((outcome for outcome in outcomes if outcome.name == name), None)


def _add_game(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def game(
        game_id: Game,
        *,
        reasons: Annotated[
            bool, typer.Option("--reasons", help="Show the reasons of each pick.")
        ] = False,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show a game with its odds, picks, form, previous meetings and injuries."""
        found = with_bets(lambda bets: bets.games.get(game_id))
        echo_json(found) if as_json else _print_game(console(), found, reasons=reasons)

    @group.command()
    def odds(
        game_id: Game,
        *,
        market: Annotated[str, typer.Option("--market", "-m", help="The market.")] = "h2h",
        bookmaker: cli.Bookmaker = None,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show the line history of a game by bookmaker, oldest first."""
        view = with_bets(lambda bets: bets.games.get(game_id))
        lines = [
            line
            for line in view.lines
            if line.market_key == market and bookmaker in {None, line.bookmaker}
        ]
        if as_json:
            echo_json(lines)
            return
        to = console()
        if not lines:
            markets = ", ".join(sorted({line.market_key for line in view.lines})) or "none"
            print_line(to, f"No odds in this market. Markets of the game: {markets}.")
        for line in lines:
            _print_path(to, line, view.game.home_team)


def _print_game(to: Console, view: GameView, *, reasons: bool) -> None:
    game = view.game
    print_title(
        to,
        f"{cli.format_teams(game.home_team, game.away_team)}, "
        f"{cli.format_timestamp(game.commence_time)} UTC",
    )
    if view.score is not None:
        again = ", corrected" if view.score.corrected_at else ""
        print_line(to, f"Final score: {view.score.home_score} to {view.score.away_score}{again}")
    quotes, about = (game.quotes, "age") if game.quotes else (view.closing, "before the start")
    if quotes:
        to.print()
        columns = (*_QUOTES[:-1], ColumnSpec(about, right=True))
        lines = (_quote_line(quote, game.home_team) for quote in sorted(quotes, key=_order))
        print_table(to, columns, lines)
    for price in view.game.exchange:
        bid, ask = (
            cli.NONE if value is None else cli.format_percent(value / 10_000)
            for value in (price.bid, price.ask)
        )
        print_line(to, f"Exchange, {price.team}: bid {bid}, ask {ask} ({price.title})")
    if view.picks:
        to.print()
        print_picks(to, view.picks, reasons=reasons, one_game=True)
    to.print()
    for team, form in ((game.home_team, view.home_form), (game.away_team, view.away_form)):
        if form:
            print_line(to, f"Form of {team}: {', '.join(map(_past, form))}")
    met = ", ".join(f"{result.team} {_score(result)} {result.opponent}" for result in view.meetings)
    if met:
        print_line(to, f"Meetings: {met}")
    for item in view.injuries:
        report = f"{item.player} {item.status} ({item.injury}), {item.reported_on}"
        print_line(to, f"{item.team}: {report}")


def _order(quote: MarketOdds) -> tuple[int, str, str, str]:
    key = quote.market_key
    rank = _MARKETS.index(key) if key in _MARKETS else len(_MARKETS)
    return rank, key, quote.player or "", quote.bookmaker


def _sides(outcomes: Sequence[PricedOutcome], home_team: str) -> str:
    order = sorted(outcomes, key=lambda outcome: outcome.name != home_team)
    return ", ".join(
        f"{cli.format_side(outcome)} {cli.format_price(outcome.price)}" for outcome in order
    )


def _quote_line(quote: MarketOdds, home_team: str) -> TableRow:
    sides = _sides(quote.outcomes, home_team)
    text = f"{quote.player}: {sides}" if quote.player else sides
    return TableRow((quote.market_key, quote.bookmaker, text, cli.format_age(quote.age_seconds)))


def _past(one: PastResult) -> str:
    margin = one.team_score - one.opponent_score
    result = "won" if margin > 0 else "lost" if margin < 0 else "drew"
    return f"{result} {_score(one)} {'v' if one.is_home else 'at'} {one.opponent}"


def _score(one: PastResult) -> str:
    return f"{one.team_score}-{one.opponent_score}"


def _print_path(to: Console, line: PriceLine, home_team: str) -> None:
    about = f"{line.bookmaker}, {line.market_key}"
    print_title(to, f"{about}, {line.player}" if line.player else about)
    rows = (
        TableRow((cli.format_timestamp(point.captured_at), _sides(point.outcomes, home_team)))
        for point in line.points
    )
    print_table(to, _PATH, rows)
    to.print()


def _add_analyses(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def analyses(
        model: Annotated[
            str | None, typer.Argument(help="A model. Default: the best pick of any model.")
        ] = None,
        *,
        sport: cli.Sport = None,
        bookmaker: cli.Bookmaker = None,
        kind: cli.Kind = "game",
        reasons: Annotated[bool, typer.Option("--reasons", help="Show the reasons.")] = False,
        limit: cli.Limit = 20,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show a model's picks for upcoming games at a bookmaker's prices."""

        async def load(bets: Bets) -> tuple[Pick, ...]:
            name, book = cli.resolve_sport(bets, sport), bookmaker or bets.settings.bookmakers[0]
            if model is None:
                top = await bets.predictions.top_pick(name, book)
                return () if top is None else (top,)
            page = await bets.predictions.picks(name, book, model, analysis_type=kind, limit=limit)
            return page.items

        picks = with_bets(load)
        if as_json:
            echo_json(picks)
        elif picks:
            print_picks(console(), picks, reasons=reasons)
        else:
            typer.echo("No picks. Run `grandstand bets analyze` to run the models.")


def print_picks(
    to: Console, picks: tuple[Pick, ...], *, reasons: bool = False, one_game: bool = False
) -> None:
    """Print picks, optionally with their reasons below."""
    columns = [
        at for at, column in enumerate(_PICKS) if not one_game or column.heading not in _ABOUT
    ]
    lines = map(_pick_line, picks)
    print_table(
        to,
        [_PICKS[at] for at in columns],
        (TableRow(tuple(line.cells[at] for at in columns), line.style) for line in lines),
    )
    for pick in picks if reasons else ():
        to.print()
        print_title(to, f"{pick.model}: {pick.prediction} ({cli.format_percent(pick.probability)})")
        for reason in pick.reasons:
            print_line(to, f"  {reason.contribution:+.3f}  {reason.text or reason.source}")


def _pick_line(pick: Pick) -> TableRow:
    came = cli.NONE if pick.verdict is None else pick.verdict.replace("_", " ")
    style = {True: "green", False: "dim"}.get(pick.correct, "") if pick.correct is not None else ""
    about = f"{pick.player_name}: {pick.prediction}" if pick.player_name else pick.prediction
    return TableRow(
        (
            cli.format_day_time(pick.commence_time),
            pick.model,
            cli.format_teams(pick.home_team, pick.away_team),
            pick.market_key,
            about,
            cli.format_percent(pick.probability),
            cli.format_price(pick.price),
            cli.format_signed_percent(pick.expected_return),
            came,
        ),
        style,
    )


_LEGS: Final = (
    ColumnSpec("book"),
    ColumnSpec("bet"),
    ColumnSpec("price", right=True),
    ColumnSpec("share of stake", right=True),
    ColumnSpec("age", right=True),
)
_STALE: Final = (
    ColumnSpec("start (UTC)", from_width=120, whole=True),
    ColumnSpec("game", from_width=80),
    ColumnSpec("book"),
    ColumnSpec("bet"),
    ColumnSpec("price", right=True),
    ColumnSpec("fair", right=True),
    ColumnSpec("edge", right=True),
    ColumnSpec("age", right=True),
)
_BEST: Final = (
    ColumnSpec("start (UTC)", from_width=120, whole=True),
    ColumnSpec("game", from_width=80),
    ColumnSpec("market", from_width=100),
    ColumnSpec("bet"),
    ColumnSpec("price", right=True),
    ColumnSpec("book"),
    ColumnSpec("fair", right=True, from_width=70),
    ColumnSpec("expected", right=True),
    ColumnSpec("age", right=True, from_width=60),
)
_FAIR: Final = (
    ColumnSpec("given", right=True),
    ColumnSpec("probability", right=True),
    ColumnSpec("decimal", right=True),
    ColumnSpec("American", right=True),
)


def tool_commands(with_bets: cli.BetsRunner) -> typer.Typer:
    """Return the line shopping commands."""
    group = typer.Typer(help="Line shopping and fair odds.", no_args_is_help=True)
    _add_best(group, with_bets)
    _add_arbitrage(group, with_bets)
    _add_fair(group)
    return group


def _add_best(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def best(
        game_id: Annotated[str | None, typer.Argument(metavar="GAME", help="A game id.")] = None,
        *,
        sport: cli.Sport = None,
        as_json: cli.AsJson = False,
    ) -> None:
        """Show the best price of each outcome."""
        prices = with_bets(
            lambda bets: bets.line_shopping.best_prices(cli.resolve_sport(bets, sport), game_id)
        )
        empty = "No recent odds. Run `grandstand bets collect odds` to collect them."
        print_results(prices, _BEST, _best_line, as_json=as_json, empty=empty)


def _best_line(one: BestPrice) -> TableRow:
    return TableRow(
        (
            cli.format_day_time(one.commence_time),
            cli.format_teams(one.home_team, one.away_team),
            one.market_key,
            cli.format_side(PricedOutcome(one.name, one.price, one.point)),
            cli.format_price(one.price),
            one.bookmaker,
            cli.format_percent(one.fair),
            cli.format_signed_percent(one.expected_return),
            cli.format_age(one.age_seconds),
        ),
        "green" if (one.expected_return or 0.0) > 0 else "",
    )


def _add_arbitrage(group: typer.Typer, with_bets: cli.BetsRunner) -> None:
    @group.command()
    def arbitrage(*, sport: cli.Sport = None, as_json: cli.AsJson = False) -> None:
        """Find bets that profit whatever the result."""
        offers = with_bets(
            lambda bets: bets.line_shopping.arbitrages(cli.resolve_sport(bets, sport))
        )
        if as_json:
            echo_json(offers)
            return
        for offer in offers:
            about = f"{cli.format_teams(offer.home_team, offer.away_team)}, {offer.market_key}"
            profit = cli.format_signed_percent(offer.profit_share, 2)
            _print_legs(f"{about}: {profit} profit", offer.legs)
        if not offers:
            typer.echo("None at recent prices.")

    @group.command()
    def middles(*, sport: cli.Sport = None, as_json: cli.AsJson = False) -> None:
        """Find pairs of bets that both win between their lines, cheapest first."""
        offers = with_bets(lambda bets: bets.line_shopping.middles(cli.resolve_sport(bets, sport)))
        if as_json:
            echo_json(offers)
            return
        for offer in offers:
            low, high = (cli.format_point(end, signed=False) for end in (offer.low, offer.high))
            loss = cli.format_signed_percent(-offer.cost_share, 2)
            about = f"{cli.format_teams(offer.home_team, offer.away_team)}, {offer.market_key}"
            _print_legs(f"{about}: both win between {low} and {high}, else {loss}", offer.legs)
        if not offers:
            typer.echo("None at recent prices.")

    @group.command()
    def stale(*, sport: cli.Sport = None, as_json: cli.AsJson = False) -> None:
        """Find prices that stood still while at least three bookmakers moved."""
        lines = with_bets(
            lambda bets: bets.line_shopping.stale_lines(cli.resolve_sport(bets, sport))
        )
        print_results(lines, _STALE, _stale_line, as_json=as_json, empty="No stale lines.")


def _print_legs(about: str, legs: tuple[Leg, ...]) -> None:
    to = console()
    print_title(to, about)
    lines = (
        TableRow(
            (
                leg.bookmaker,
                cli.format_side(leg.outcome),
                cli.format_price(leg.outcome.price),
                cli.format_percent(leg.share),
                cli.format_age(leg.age_seconds),
            )
        )
        for leg in legs
    )
    print_table(to, _LEGS, lines)
    to.print()


def _stale_line(one: StaleLine) -> TableRow:
    return TableRow(
        (
            cli.format_day_time(one.commence_time),
            cli.format_teams(one.home_team, one.away_team),
            one.bookmaker,
            cli.format_side(one.outcome),
            cli.format_price(one.outcome.price),
            cli.format_percent(one.fair),
            cli.format_signed_percent(one.edge),
            cli.format_age(one.age_seconds),
        )
    )


def _add_fair(group: typer.Typer) -> None:
    # Otherwise a price such as -150 is parsed as an option.
    @group.command(context_settings={"ignore_unknown_options": True})
    def fair(
        prices: Annotated[list[int], typer.Argument(help="American prices, such as -150 130.")],
        *,
        method: Annotated[
            str,
            typer.Option("--method", help="multiplicative, additive, power, shin, odds_ratio."),
        ] = "power",
        as_json: cli.AsJson = False,
    ) -> None:
        """Calculate fair odds without the margin."""
        odds = fair_odds(prices, method)
        if as_json:
            echo_json(odds)
            return
        to = console()
        sides = zip(prices, odds.probabilities, odds.decimals, odds.americans, strict=True)
        print_table(
            to,
            _FAIR,
            (
                TableRow(
                    (
                        cli.format_price(given),
                        cli.format_percent(chance, 2),
                        f"{decimal:.3f}",
                        cli.format_price(american),
                    )
                )
                for given, chance, decimal, american in sides
            ),
        )
        margin = cli.format_percent(odds.margin, 2)
        print_line(to, f"Margin: {margin} (method: {odds.method}).", "dim")
