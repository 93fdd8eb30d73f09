"""Kept here: the commands of one's own bets and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from grandstand.apps.bets.cli.asking import (
    OWNER,
    AsJson,
    Limit,
    Opened,
    User,
    Yes,
    caller_of,
    cents_of,
    decimal_of,
    moment_of,
    read_bytes,
    with_bets,
)
from grandstand.apps.bets.cli.words import (
    NONE,
    count,
    money,
    plain,
    point,
    price,
    short,
    signed,
    stamp,
    teams,
    within,
)
from grandstand.apps.bets.service import (
    Bets,
    LimitsDraft,
    LimitsView,
    Page,
    WagerDraft,
    WagerSummary,
    WagerView,
)
from grandstand.base.errors import InvalidInput
from grandstand.kit.terminal import Column, Line, console, echo_json, print_grid, say

_WAGERS: Final = (
    Column("start (UTC)", from_width=120, whole=True),
    Column("game", from_width=80),
    Column("bet"),
    Column("price", right=True),
    Column("stake", right=True),
    Column("book", from_width=100),
    Column("status"),
    Column("profit", right=True),
    Column("CLV", right=True, from_width=120),
    Column("id", from_width=140, whole=True),
)


def add_wagers(group: typer.Typer, opened: Opened) -> None:
    """Add the commands of one's own bets and limits."""
    wagers = typer.Typer(help="Bets of your own.", no_args_is_help=True)
    _add_list(wagers, opened)
    _add_add(wagers, opened)
    _add_import(wagers, opened)
    _add_remove(wagers, opened)
    group.add_typer(wagers, name="wagers")
    _add_limits(group, opened)
    _add_time_out(group, opened)


def _add_list(group: typer.Typer, opened: Opened) -> None:
    @group.command("list")
    def list_wagers(*, limit: Limit = 20, user: User = OWNER, as_json: AsJson = False) -> None:
        """List your bets, those on the latest games first, and what came of them."""

        async def found(bets: Bets) -> tuple[Page[WagerView], WagerSummary]:
            who = caller_of(user)
            return await bets.wagers(who, limit=limit), await bets.wager_summary(who)

        page, summary = with_bets(opened, found)
        if as_json:
            echo_json({"wagers": page.items, "summary": summary})
            return
        to = console()
        if not page.items:
            say(to, "You have recorded no bets: `grandstand bets wagers add` records one.")
            return
        print_grid(to, _WAGERS, map(_wager_line, page.items))
        open_stakes, staked = money(summary.open_stakes_cents), money(summary.staked_cents)
        say(to, f"{count(summary.bets, 'bet')}, {summary.open} open with {open_stakes}", "dim")
        if summary.bets > summary.open:
            profit = money(summary.profit_cents, signed=True)
            back = within(summary.roi, sign=True)
            say(to, f"Settled: {profit} of {staked} staked, return {back}", "dim")


def _wager_line(one: WagerView) -> Line:
    status = one.status if one.verdict is None else plain(one.verdict)
    return Line(
        (
            short(one.commence_time),
            teams(one.home_team, one.away_team),
            _bet(one),
            price(one.price),
            money(one.stake_cents),
            one.bookmaker or NONE,
            status,
            money(one.profit_cents, signed=True),
            signed(one.clv),
            one.wager_id,
        )
    )


def _bet(one: WagerView) -> str:
    named = {"home": one.home_team, "away": one.away_team}.get(one.side, one.side)
    line = point(one.point, signed=one.side in {"home", "away"})
    about = f"{named} {line}".strip()
    return f"{one.participant}: {about} {one.market_key}" if one.participant else about


def _add_add(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def add(
        game_id: Annotated[str, typer.Argument(metavar="GAME", help="As `games` lists it.")],
        *,
        side: Annotated[str, typer.Option("--side", help="home, away, draw, over or under.")],
        american: Annotated[int, typer.Option("--price", help="American, such as -110.")],
        stake: Annotated[str, typer.Option("--stake", help="Dollars, such as 15.50.")],
        market: Annotated[str, typer.Option("--market", "-m", help="Such as spreads.")] = "h2h",
        line: Annotated[str | None, typer.Option("--point", help="The line: -3.5.")] = None,
        player: Annotated[
            str | None, typer.Option("--player", help="Of a player's market.")
        ] = None,
        bookmaker: Annotated[str, typer.Option("--book", "-b", help="Where it was made.")] = "",
        placed: Annotated[
            str | None, typer.Option("--placed", help="When: 2026-02-11T14:00:00Z; now without.")
        ] = None,
        note: Annotated[str, typer.Option("--note")] = "",
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Record a bet you made elsewhere; your own limits stand against it if they must."""

        async def recorded(bets: Bets) -> WagerView:
            draft = WagerDraft(
                game_id=game_id,
                market_key=market,
                side=side,
                price=american,
                stake_cents=cents_of(stake),
                point=None if line is None else decimal_of(line),
                bookmaker=bookmaker,
                placed_at=None if placed is None else moment_of(placed, bets.now()),
                note=note,
                participant=player,
            )
            return await bets.record_wager(caller_of(user), draft)

        found = with_bets(opened, recorded)
        echo_json(found) if as_json else print_grid(console(), _WAGERS, [_wager_line(found)])


def _add_import(group: typer.Typer, opened: Opened) -> None:
    @group.command("import")
    def import_wagers(
        file: Annotated[Path, typer.Argument(help="A CSV file; its columns are in the manual.")],
        *,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Record the bets of a file; lines that were recorded before are known.

        Exits with 1 when a line was refused; the others are taken.
        """
        content = read_bytes(file)
        done = with_bets(opened, lambda bets: bets.import_wagers(caller_of(user), content))
        if as_json:
            echo_json(done)
        else:
            typer.echo(f"{count(done.recorded, 'bet')} recorded, {done.known} known before")
            for line, why in done.refused:
                typer.echo(f"! line {line}: {why}", err=True)
        if done.refused:
            raise typer.Exit(1)


def _add_remove(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def remove(
        wager_id: Annotated[str, typer.Argument(metavar="BET", help="As `list --json` has it.")],
        *,
        yes: Yes = False,
        user: User = OWNER,
    ) -> None:
        """Take an open bet back, its stake with it; only before the game."""
        if not yes:
            typer.confirm(f"Take {wager_id} back?", abort=True, err=True)
        with_bets(opened, lambda bets: bets.remove_wager(caller_of(user), wager_id))
        typer.echo("It is taken back.")


def _add_limits(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def limits(
        *,
        bet: Annotated[
            str | None, typer.Option("--bet", help="The most for one bet; `none` lifts it.")
        ] = None,
        day: Annotated[str | None, typer.Option("--day", help="The most for one day.")] = None,
        week: Annotated[
            str | None, typer.Option("--week", help="The most to lose in a week.")
        ] = None,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Show or set what you allow yourself; looser limits count a day later."""

        async def done(bets: Bets) -> LimitsView:
            who = caller_of(user)
            now = await bets.limits(who)
            if bet is None and day is None and week is None:
                return now
            draft = LimitsDraft(
                _limit(bet, now.stake_per_bet_cents),
                _limit(day, now.stake_per_day_cents),
                _limit(week, now.loss_per_week_cents),
            )
            return await bets.set_limits(who, draft)

        found = with_bets(opened, done)
        echo_json(found) if as_json else _print_limits(console(), found)


def _limit(told: str | None, now: int | None) -> int | None:
    if told is None:
        return now
    return None if told == "none" else cents_of(told)


def _print_limits(to: Console, found: LimitsView) -> None:
    used_day, used_week = money(found.staked_today_cents), money(found.lost_this_week_cents)
    say(to, f"for one bet     {_most(found.stake_per_bet_cents)}")
    say(to, f"for one day     {_most(found.stake_per_day_cents)}, {used_day} staked today")
    say(to, f"lost in a week  {_most(found.loss_per_week_cents)}, {used_week} lost so far")
    if found.time_out_until is not None:
        say(to, f"time out until  {stamp(found.time_out_until)} UTC", "bold")
    if found.loosens_at is not None:
        say(to, f"looser limits count from {stamp(found.loosens_at)} UTC on", "dim")


def _most(cents: int | None) -> str:
    return "no limit" if cents is None else f"at most {money(cents)}"


def _add_time_out(group: typer.Typer, opened: Opened) -> None:
    @group.command("time-out")
    def time_out(
        until: Annotated[str, typer.Argument(help="12h, 3d, 2w, or 2026-03-01T00:00:00Z.")],
        *,
        yes: Yes = False,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Take no bets until a moment; it can be made longer and never shorter."""
        if as_json and not yes:
            raise InvalidInput("With --json nobody can be asked: say --yes")

        async def done(bets: Bets) -> LimitsView:
            moment = moment_of(until, bets.now()).replace(microsecond=0)
            if not yes:
                told = f"Record no bets until {stamp(moment)} UTC? It cannot be taken back."
                typer.confirm(told, abort=True, err=True)
            return await bets.time_out(caller_of(user), moment)

        found = with_bets(opened, done)
        echo_json(found) if as_json else _print_limits(console(), found)
