"""Kept here: what the odds feed's rows say: games, prices and scores, matched by name alone.

The smallest thing that is taken or refused is one bookmaker's market; a game without its teams or
its start is refused whole, and so is the second telling of a game.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.model.feeds import FedGame, FedPrice, FedScore
from grandstand.apps.bets.sources.reading import (
    Begun,
    Refusals,
    Row,
    Unfit,
    find_moment,
    moment_of,
    object_of,
    point_of,
    price_of,
    rows_of,
    score_of,
    shortened,
    text_of,
)

DRAW: Final = "Draw"
OVER: Final = "Over"
UNDER: Final = "Under"
_SIDES: Final = 2
_MOST_SIDES: Final = 400


@dataclass(frozen=True, slots=True)
class Side:
    """One outcome of a market as the feed tells it; `player` names whom a prop is about."""

    name: str
    price: int
    point: Decimal | None
    player: str | None


def parse_games(
    rows: Iterable[object],
    refusals: Refusals,
    *,
    markets: Sequence[str] = (),
    now: datetime | None = None,
) -> tuple[FedGame, ...]:
    """Answer the games with the prices of the markets wanted.

    With `now`, games that have begun are refused: their prices are made in play.
    """
    found: dict[str, FedGame] = {}
    for told in rows:
        try:
            row = object_of(told, "a game")
            game = _game(row)
            _check_new(game.game_id, found)
            _check_early(game, now)
            prices = tuple(_prices(row, game, frozenset(markets), refusals))
            found[game.game_id] = replace(game, prices=prices)
        except Unfit as why:
            refusals.add(_named(told), why)
    return tuple(found.values())


def parse_scores(rows: Iterable[object], refusals: Refusals) -> tuple[FedScore, ...]:
    """Answer how games stand; the scores of those that are over are matched to teams by name."""
    found: dict[str, FedScore] = {}
    for told in rows:
        try:
            row = object_of(told, "a game")
            game = _game(row)
            _check_new(game.game_id, found)
            found[game.game_id] = _score(row, game)
        except Unfit as why:
            refusals.add(_named(told), why)
    return tuple(found.values())


def _check_new(key: object, seen: Container[object]) -> None:
    if key in seen:
        raise Unfit("it is told twice: the first telling is taken")


def _check_early(game: FedGame, now: datetime | None) -> None:
    if now is not None and game.commence_time <= now:
        raise Begun(f"it began at {game.commence_time:%Y-%m-%d %H:%M}: it comes too late")


def _check_wanted(name: str, wanted: frozenset[str]) -> None:
    if wanted and name not in wanted:
        raise Unfit("it was not asked for")


def _named(told: object) -> str:
    """Answer what to call a row in a report."""
    number = told.get("id") if isinstance(told, dict) else None
    return f"game {shortened(number)}" if isinstance(number, str) and number else "a game"


def _game(row: Row) -> FedGame:
    home, away = text_of(row, "home_team"), text_of(row, "away_team")
    if home == away:
        raise Unfit(f"{home} plays itself")
    return FedGame(
        game_id=text_of(row, "id"),
        sport=text_of(row, "sport_key"),
        home_team=home,
        away_team=away,
        commence_time=moment_of(row.get("commence_time"), "commence_time"),
    )


def _prices(
    row: Row, game: FedGame, wanted: frozenset[str], refusals: Refusals
) -> Iterable[FedPrice]:
    seen: set[tuple[str, str]] = set()
    for told in rows_of(row.get("bookmakers"), "bookmakers"):
        try:
            book = object_of(told, "a bookmaker")
            key = text_of(book, "key")
            markets = rows_of(book.get("markets"), "markets")
        except Unfit as why:
            refusals.add(f"game {game.game_id}, a bookmaker", why)
            continue
        for each in markets:
            place = f"game {game.game_id}, {key}"
            try:
                market = object_of(each, "a market")
                name = text_of(market, "key")
                place = f"{place} {name}"
                _check_wanted(name, wanted)
                _check_new((key, name), seen)
                prices = _market(game, key, name, market)
            except Unfit as why:
                refusals.add(place, why)
                continue
            seen.add((key, name))
            yield from prices.taken
            for reason in prices.refused:
                refusals.add(place, reason)


@dataclass(frozen=True, slots=True)
class _Taken:
    """The prices of a market, several where it is about players, and why others are none."""

    taken: tuple[FedPrice, ...]
    refused: tuple[str, ...] = ()


def _market(game: FedGame, book: str, name: str, market: Row) -> _Taken:
    updated = find_moment(market, "last_update")
    outcomes = rows_of(market.get("outcomes"), "outcomes")
    if len(outcomes) > _MOST_SIDES:
        raise Unfit(f"it has {len(outcomes)} outcomes")
    known = _WAYS.get(name)
    if known is not None:
        sides = [_side(each) for each in outcomes]
        return _Taken((FedPrice(book, name, known(game, sides), updated),))
    return _props(book, name, outcomes, updated)


def _side(told: object) -> Side:
    row = object_of(told, "an outcome")
    point = row.get("point")
    return Side(
        text_of(row, "name"),
        price_of(row.get("price")),
        None if point is None else point_of(point),
        text_of(row, "description") if row.get("description") is not None else None,
    )


def _matched(sides: Sequence[Side], names: Sequence[str]) -> list[Side]:
    """Answer the sides in the order of the names they must have, each exactly once."""
    found = {side.name: side for side in sides}
    for side in sides:
        if side.name not in names:
            raise Unfit(f"{side.name!r} is no side of it: {', '.join(names)} are")
    if len(found) < len(sides):
        raise Unfit("a side is told twice")
    missing = [name for name in names if name not in found]
    if missing:
        raise Unfit(f"a side is missing: {', '.join(missing)}")
    return [found[name] for name in names]


def _winner(game: FedGame, sides: Sequence[Side]) -> tuple[PricedOutcome, ...]:
    names = [game.home_team, game.away_team]
    if game.sport.startswith("soccer") or any(side.name == DRAW for side in sides):
        names.append(DRAW)
    return tuple(PricedOutcome(side.name, side.price) for side in _matched(sides, names))


def _spread(game: FedGame, sides: Sequence[Side]) -> tuple[PricedOutcome, ...]:
    home, away = _matched(sides, (game.home_team, game.away_team))
    if home.point is None or away.point is None or home.point + away.point != 0:
        raise Unfit(f"the lines {home.point} and {away.point} are not each other's opposite")
    return _priced(home, away)


def _total(game: FedGame, sides: Sequence[Side]) -> tuple[PricedOutcome, ...]:
    del game
    over, under = _matched(sides, (OVER, UNDER))
    if over.point is None or over.point != under.point:
        raise Unfit(f"the lines {over.point} and {under.point} are not the same")
    return _priced(over, under)


def _priced(*sides: Side) -> tuple[PricedOutcome, ...]:
    return tuple(PricedOutcome(side.name, side.price, side.point) for side in sides)


_WAYS: Final[dict[str, Callable[[FedGame, Sequence[Side]], tuple[PricedOutcome, ...]]]] = {
    "h2h": _winner,
    "spreads": _spread,
    "totals": _total,
}


def _props(book: str, name: str, outcomes: Sequence[object], updated: datetime | None) -> _Taken:
    """Take each player's line with both of its sides; what lacks one is refused by itself."""
    refused: list[str] = []
    lines: dict[tuple[str, Decimal], list[Side]] = {}
    for told in outcomes:
        try:
            side = _side(told)
            lines.setdefault(_subject(side), []).append(side)
        except Unfit as why:
            refused.append(str(why))
    taken: list[FedPrice] = []
    for (player, _), sides in lines.items():
        try:
            priced = _priced(*_matched(sides, (OVER, UNDER)))
            taken.append(FedPrice(book, name, priced, updated, player))
        except Unfit as why:
            refused.append(f"{player}: {why}")
    return _Taken(tuple(taken), tuple(refused))


def _subject(side: Side) -> tuple[str, Decimal]:
    """Answer whom a prop is about, and at which line."""
    if side.player is None or side.point is None:
        raise Unfit("an outcome is about no player, or has no line")
    return side.player, side.point


def _score(row: Row, game: FedGame) -> FedScore:
    completed = row.get("completed")
    if not isinstance(completed, bool):
        raise Unfit("completed is neither true nor false")
    score = FedScore(
        game.game_id,
        game.sport,
        game.home_team,
        game.away_team,
        game.commence_time,
        completed,
        updated_at=find_moment(row, "last_update"),
    )
    if not completed:
        return score
    told = [object_of(each, "a score") for each in rows_of(row.get("scores"), "scores")]
    points = {text_of(each, "name"): score_of(each.get("score")) for each in told}
    if len(told) != _SIDES or points.keys() != {game.home_team, game.away_team}:
        names = ", ".join(points) or "nobody"
        raise Unfit(f"its scores are of {names}, not of {game.home_team} and {game.away_team}")
    return replace(score, home_score=points[game.home_team], away_score=points[game.away_team])
