"""Typed selections: what a bet is on.

Every bet on a final score wins by an amount that can be counted in quarters of a point, lines
included: above zero it wins, below zero it loses, and one quarter is half a win or half a loss. A
`SettlementForm` says how to count it; settlement and pricing both use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from grandstand.apps.bets.domain.records import PricedOutcome, slug
from grandstand.core.errors import InvalidInput

Market: TypeAlias = Literal[
    "h2h",
    "h2h_3way",
    "spreads",
    "totals",
    "team_totals",
    "draw_no_bet",
    "btts",
    "outright",
    "prop",
]
Side: TypeAlias = Literal["home", "away", "draw", "over", "under", "yes", "no"]

MARKETS: Final[tuple[Market, ...]] = get_args(Market)
_QUARTER: Final = Decimal("0.25")
_SIDES: Final[Mapping[str, tuple[Side, ...]]] = {
    "h2h": ("home", "away"),
    "h2h_3way": ("home", "draw", "away"),
    "spreads": ("home", "away"),
    "totals": ("over", "under"),
    "team_totals": ("over", "under"),
    "draw_no_bet": ("home", "away"),
    "btts": ("yes", "no"),
    "outright": (),
    "prop": ("over", "under"),
}
_OTHER_SIDE: Final[dict[Side, Side]] = {
    "home": "away",
    "away": "home",
    "over": "under",
    "under": "over",
    "yes": "no",
    "no": "yes",
}

LINEAR: Final = 0
DRAW_ONLY: Final = 1
BOTH_SCORE: Final = 2
PLAYER_STAT: Final = 3
# Stats counted by the feed's prop markets, as box scores name them.
PROP_STATS: Final[Mapping[str, tuple[str, ...]]] = {
    "player_points": ("PTS",),
    "player_rebounds": ("REB",),
    "player_assists": ("AST",),
    "player_threes": ("3PM",),
    "player_blocks": ("BLK",),
    "player_steals": ("STL",),
    "player_points_rebounds_assists": ("PTS", "REB", "AST"),
    "player_pass_tds": ("PASS_TDS",),
    "player_pass_yds": ("PASS_YDS",),
    "player_rush_yds": ("RUSH_YDS",),
    "player_receptions": ("RECEPTIONS",),
    "player_reception_yds": ("REC_YDS",),
    "player_shots_on_target": ("SOT",),
    "player_goal_scorer_anytime": ("GOALS",),
}


class InvalidSelection(InvalidInput):
    """The market, side, line and participant of a bet do not fit together."""

    code = "invalid-selection"


class SettlementForm(NamedTuple):
    """How the quarters a bet wins by follow from two scores.

    LINEAR is `4 (home x home score + away x away score) + quarters`, PLAYER_STAT the same with a
    player's stat in place of the home score. DRAW_ONLY is two minus four times the difference,
    BOTH_SCORE four times the smaller score minus two, each times `home`, which is 1, or -1 for a
    lay.
    """

    shape: int
    home: int
    away: int
    quarters: int


@dataclass(frozen=True, slots=True)
class Selection:
    """One side of one market; `lay` is a bet against it.

    `participant` is the slug of a player, team or runner where the market is about one; team totals
    use `home` or `away`. `stat` is what a prop counts.

    Raises InvalidSelection if the fields do not fit together.
    """

    market: Market
    side: Side | None = None
    point: Decimal | None = None
    participant: str | None = None
    stat: str | None = None
    lay: bool = False
    form: SettlementForm | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "form", _form(self))


def market_sides(market: str) -> tuple[Side, ...]:
    """Return the sides of a market in the order of price columns; props are over and under."""
    return _SIDES.get(market, _SIDES["prop"])


def opposite_of(selection: Selection) -> Selection:
    """Return the bet that wins if this one loses: the other side, or a lay.

    Markets with three or more sides have no single other side, so the pick is laid.
    """
    if selection.market in {"h2h_3way", "outright"} or selection.lay or selection.side is None:
        return replace(selection, lay=not selection.lay)
    point = selection.point
    if selection.market == "spreads" and point is not None:
        point = -point if point else point
    return replace(selection, side=_OTHER_SIDE[selection.side], point=point)


def format_selection(selection: Selection, home: str, away: str) -> str:
    """Return the selection as display text, which is never parsed back."""
    names = {"home": home, "away": away, "draw": "Draw"}
    side = selection.side or ""
    text = names.get(side, side.capitalize())
    if selection.market == "prop":
        text = f"{selection.participant} {text} {selection.point} {selection.stat}"
    elif selection.market == "team_totals":
        text = f"{names[selection.participant or 'home']} {text} {selection.point}"
    elif selection.market == "outright":
        text = f"{selection.participant} to win"
    elif selection.market == "spreads" and selection.point is not None:
        text = f"{text} {selection.point:+}"
    elif selection.point is not None:
        text = f"{text} {selection.point}"
    elif selection.market == "btts":
        text = f"Both teams to score: {side}"
    return f"Against {text}" if selection.lay else text


def encode_selection(selection: Selection) -> str:
    """Return a canonical text that `decode_selection` reads back."""
    point = "" if selection.point is None else f"{selection.point.normalize():f}"
    parts = (
        selection.market,
        selection.side or "",
        point,
        selection.participant or "",
        selection.stat or "",
        "lay" if selection.lay else "",
    )
    return "|".join(parts)


def decode_selection(text: str) -> Selection:
    """Parse the output of `encode_selection`.

    Raises InvalidSelection.
    """
    parts = text.split("|")
    sides = get_args(Side)
    fits = len(parts) == len(Selection.__match_args__) and parts[0] in MARKETS
    if not fits or parts[1] not in {"", *sides} or parts[5] not in {"", "lay"}:
        raise InvalidSelection(f"Invalid selection code {text!r}.")
    market = next(name for name in MARKETS if name == parts[0])
    side = next((name for name in sides if name == parts[1]), None)
    try:
        point = Decimal(parts[2]) if parts[2] else None
    except InvalidOperation as error:
        raise InvalidSelection(f"Invalid line {parts[2]!r}.") from error
    return Selection(market, side, point, parts[3] or None, parts[4] or None, lay=bool(parts[5]))


def parse_outcomes(
    market_key: str, outcomes: Sequence[PricedOutcome], home: str, away: str
) -> tuple[Selection, ...]:
    """Return the selection of each outcome of a feed's market, matched by name, never by position.

    `h2h` with a draw among its outcomes is the three-way market.

    Raises InvalidSelection for an unknown outcome name or market.
    """
    has_draw = any(slug(outcome.name) == "draw" for outcome in outcomes)
    return tuple(
        _outcome(market_key, outcome, home, away, has_draw=has_draw) for outcome in outcomes
    )


def parse_prop(market_key: str, player: str, name: str, point: Decimal | None) -> Selection:
    """Return the selection of a player market such as `player_points`.

    Raises InvalidSelection.
    """
    side = _over_or_under(name)
    return Selection("prop", side, point, slug(player), market_key)


def is_prop(market_key: str) -> bool:
    return market_key.startswith(("player_", "batter_", "pitcher_"))


def _outcome(
    market_key: str, outcome: PricedOutcome, home: str, away: str, *, has_draw: bool
) -> Selection:
    if market_key == "totals":
        return Selection("totals", _over_or_under(outcome.name), outcome.point)
    if market_key == "outrights":
        return Selection("outright", participant=slug(outcome.name))
    side = _team_side(outcome.name, home, away)
    if market_key in {"h2h", "h2h_3_way"}:
        return Selection("h2h_3way" if has_draw else "h2h", side)
    if market_key == "spreads":
        return Selection("spreads", side, outcome.point)
    if market_key == "draw_no_bet":
        return Selection("draw_no_bet", side)
    raise InvalidSelection(f"Unknown market {market_key!r}.")


def _team_side(name: str, home: str, away: str) -> Side:
    sides: dict[str, Side] = {slug(home): "home", slug(away): "away", "draw": "draw"}
    side = sides.get(slug(name))
    if side is None:
        raise InvalidSelection(f"{name!r} is neither {home!r} nor {away!r}.")
    return side


def _over_or_under(name: str) -> Side:
    sides: dict[str, Side] = {"over": "over", "under": "under"}
    side = sides.get(name.strip().lower())
    if side is None:
        raise InvalidSelection(f"{name!r} is neither over nor under.")
    return side


def _check(selection: Selection) -> None:
    market, point = selection.market, selection.point
    if market not in _SIDES:
        raise InvalidSelection(f"Unknown market {market!r}.")
    if selection.side not in (_SIDES[market] or (None,)):
        raise InvalidSelection(f"{market} has no side {selection.side!r}.")
    if (point is not None) != (market in {"spreads", "totals", "team_totals", "prop"}):
        raise InvalidSelection(
            f"{market} {'takes no' if point is not None else 'requires a'} line."
        )
    if point is not None and (not point.is_finite() or point % _QUARTER):
        raise InvalidSelection(f"Invalid line {point}. Lines are multiples of 0.25.")
    if bool(selection.participant) != (market in {"team_totals", "outright", "prop"}):
        raise InvalidSelection(f"Invalid participant {selection.participant!r} for {market}.")
    if bool(selection.stat) != (market == "prop"):
        raise InvalidSelection("A stat is required for props and not allowed otherwise.")
    if market == "team_totals" and selection.participant not in {"home", "away"}:
        raise InvalidSelection("The participant of team_totals must be home or away.")


def _form(selection: Selection) -> SettlementForm | None:
    """Return how the bet is counted, None if no score decides it."""
    sign = -1 if selection.lay != (selection.side in {"under", "no"}) else 1
    quarters = 0 if selection.point is None else int(selection.point * 4)
    match selection.market:
        case "outright":
            return None
        case "totals":
            return SettlementForm(LINEAR, sign, sign, -sign * quarters)
        case "prop":
            return SettlementForm(PLAYER_STAT, sign, 0, -sign * quarters)
        case "team_totals":
            at_home = selection.participant == "home"
            return SettlementForm(LINEAR, sign * at_home, sign * (not at_home), -sign * quarters)
        case "btts":
            return SettlementForm(BOTH_SCORE, sign, 0, 0)
        case _:
            return _winner_form(selection, sign, quarters)


def _winner_form(selection: Selection, sign: int, quarters: int) -> SettlementForm:
    if selection.side == "draw":
        return SettlementForm(DRAW_ONLY, sign, 0, 0)
    home_sign = sign if selection.side == "home" else -sign
    # A team that must win outright gives half a point, so that a draw loses.
    half_point = -2 if selection.market == "h2h_3way" else 0
    return SettlementForm(LINEAR, home_sign, -home_sign, sign * (quarters + half_point))


def prop_stat_value(market: str, stats: Mapping[str, float]) -> float | None:
    """Return a player's value in a prop market, None if a stat is missing.

    A market that is not listed counts the stat of its own name.
    """
    names = PROP_STATS.get(market, (market.removeprefix("player_"),))
    if any(name not in stats for name in names):
        return None
    return sum(stats[name] for name in names)
