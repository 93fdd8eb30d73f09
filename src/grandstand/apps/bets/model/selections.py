"""Kept here: what is bet on, as typed values; names and texts only show it.

Every bet on a final score wins by an amount that can be counted in quarters of a point, lines
included: above zero it wins, below it loses, and one quarter is half a win or half a loss. A
`Form` says how to count it, and settling and pricing both do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from grandstand.apps.bets.model import PricedOutcome, slug
from grandstand.apps.bets.model.errors import OutcomeUnknown, SelectionImpossible

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
_PLAYER_PREFIXES: Final = ("player_", "batter_", "pitcher_")
_SIDES: Final[dict[Market, tuple[Side, ...]]] = {
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
_WITH_LINE: Final = frozenset({"spreads", "totals", "team_totals", "prop"})
_WITH_PARTICIPANT: Final = frozenset({"team_totals", "outright", "prop"})
_OTHER_SIDE: Final[dict[Side, Side]] = {
    "home": "away",
    "away": "home",
    "over": "under",
    "under": "over",
    "yes": "no",
    "no": "yes",
}

STRAIGHT: Final = 0
LEVEL: Final = 1
BOTH: Final = 2
COUNT: Final = 3


class Form(NamedTuple):
    """How the quarters a bet wins by follow from two scores.

    STRAIGHT is `4 (home x home score + away x away score) + quarters`, COUNT the same of a player's
    figure in place of the home score; LEVEL is two less four times the difference, BOTH four times
    the smaller score less two, each times `home`, which is then 1 or, laid, -1.
    """

    shape: int
    home: int
    away: int
    quarters: int


@dataclass(frozen=True, slots=True)
class Selection:
    """One side of one market; `lay` is a bet against it.

    `participant` is the slug of a player, a team or a runner where the market is about one;
    a team's total has `home` or `away` there. `stat` is what a prop counts. Raises
    SelectionImpossible when the parts do not fit each other.
    """

    market: Market
    side: Side | None = None
    point: Decimal | None = None
    participant: str | None = None
    stat: str | None = None
    lay: bool = False
    form: Form | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "form", _form(self))


def opposite(selection: Selection) -> Selection:
    """What wins when this loses: the other side, or, where there are more than two, the lay."""
    if selection.market in {"h2h_3way", "outright"} or selection.lay or selection.side is None:
        return replace(selection, lay=not selection.lay)
    point = selection.point
    if selection.market == "spreads" and point is not None:
        point = -point if point else point
    return replace(selection, side=_OTHER_SIDE[selection.side], point=point)


def display(selection: Selection, home: str, away: str) -> str:
    """The selection in words for people; nothing is ever read back from it."""
    names = {"home": home, "away": away, "draw": "Draw"}
    side = selection.side or ""
    said = names.get(side, side.capitalize())
    if selection.market == "prop":
        said = f"{selection.participant} {said} {selection.point} {selection.stat}"
    elif selection.market == "team_totals":
        said = f"{names[selection.participant or 'home']} {said} {selection.point}"
    elif selection.market == "outright":
        said = f"{selection.participant} to win"
    elif selection.market == "spreads" and selection.point is not None:
        said = f"{said} {selection.point:+}"
    elif selection.point is not None:
        said = f"{said} {selection.point}"
    elif selection.market == "btts":
        said = f"Both to score: {side}"
    return f"Against {said}" if selection.lay else said


def code(selection: Selection) -> str:
    """The selection as one text that `parse_code` reads back; equal selections have equal ones."""
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


def parse_code(text: str) -> Selection:
    """Read what `code` wrote; raises SelectionImpossible for anything else."""
    parts = text.split("|")
    known = get_args(Side)
    fits = len(parts) == len(Selection.__match_args__) and parts[0] in MARKETS
    if not fits or parts[1] not in {"", *known} or parts[5] not in {"", "lay"}:
        raise SelectionImpossible(f"{text!r} is not the code of a selection.")
    market = next(each for each in MARKETS if each == parts[0])
    side = next((each for each in known if each == parts[1]), None)
    try:
        point = Decimal(parts[2]) if parts[2] else None
    except InvalidOperation as error:
        raise SelectionImpossible(f"{parts[2]!r} is not a line.") from error
    return Selection(market, side, point, parts[3] or None, parts[4] or None, lay=bool(parts[5]))


def selections_of(
    market_key: str, outcomes: Sequence[PricedOutcome], home: str, away: str
) -> tuple[Selection, ...]:
    """What each outcome of a feed's market is, told by its name, never by its place.

    `h2h` with a draw among its outcomes is the three-way market. Raises OutcomeUnknown for a name
    that is neither team, and SelectionImpossible for a market that is not known.
    """
    level = any(slug(each.name) == "draw" for each in outcomes)
    return tuple(_outcome(market_key, each, home, away, level=level) for each in outcomes)


def prop_of(market_key: str, player: str, name: str, point: Decimal | None) -> Selection:
    """The selection of a player's market, such as `player_points`; raises SelectionImpossible."""
    side = _over_or_under(name)
    return Selection("prop", side, point, slug(player), market_key)


def is_prop(market_key: str) -> bool:
    """Whether a feed's market is about a player."""
    return market_key.startswith(_PLAYER_PREFIXES)


def _outcome(
    market_key: str, outcome: PricedOutcome, home: str, away: str, *, level: bool
) -> Selection:
    if market_key == "totals":
        return Selection("totals", _over_or_under(outcome.name), outcome.point)
    if market_key == "outrights":
        return Selection("outright", participant=slug(outcome.name))
    side = _team_side(outcome.name, home, away)
    if market_key in {"h2h", "h2h_3_way"}:
        return Selection("h2h_3way" if level else "h2h", side)
    if market_key == "spreads":
        return Selection("spreads", side, outcome.point)
    if market_key == "draw_no_bet":
        return Selection("draw_no_bet", side)
    raise SelectionImpossible(f"The market {market_key!r} is not known.")


def _team_side(name: str, home: str, away: str) -> Side:
    sides: dict[str, Side] = {slug(home): "home", slug(away): "away", "draw": "draw"}
    side = sides.get(slug(name))
    if side is None:
        raise OutcomeUnknown(f"{name!r} is neither {home!r} nor {away!r}.")
    return side


def _over_or_under(name: str) -> Side:
    sides: dict[str, Side] = {"over": "over", "under": "under"}
    side = sides.get(name.strip().lower())
    if side is None:
        raise OutcomeUnknown(f"{name!r} is neither over nor under.")
    return side


def _check(selection: Selection) -> None:
    market, point = selection.market, selection.point
    if market not in _SIDES:
        raise SelectionImpossible(f"The market {market!r} is not known.")
    if selection.side not in (_SIDES[market] or (None,)):
        raise SelectionImpossible(f"A bet on {market} cannot be on {selection.side!r}.")
    if (point is not None) != (market in _WITH_LINE):
        raise SelectionImpossible(
            f"A bet on {market} {'has no' if point is not None else 'needs a'} line."
        )
    if point is not None and (not point.is_finite() or point % _QUARTER):
        raise SelectionImpossible(f"A line of {point} is not in quarters of a point.")
    if bool(selection.participant) != (market in _WITH_PARTICIPANT):
        raise SelectionImpossible(
            f"A bet on {market} names the wrong one: {selection.participant}."
        )
    if bool(selection.stat) != (market == "prop"):
        raise SelectionImpossible("A prop, and nothing else, says what it counts.")
    if market == "team_totals" and selection.participant not in {"home", "away"}:
        raise SelectionImpossible("A team's total is that of home or away.")


def _form(selection: Selection) -> Form | None:
    """How it is counted, or None where no score decides it."""
    sign = -1 if selection.lay != (selection.side in {"under", "no"}) else 1
    quarters = 0 if selection.point is None else int(selection.point * 4)
    match selection.market:
        case "outright":
            return None
        case "totals":
            return Form(STRAIGHT, sign, sign, -sign * quarters)
        case "prop":
            return Form(COUNT, sign, 0, -sign * quarters)
        case "team_totals":
            at_home = selection.participant == "home"
            return Form(STRAIGHT, sign * at_home, sign * (not at_home), -sign * quarters)
        case "btts":
            return Form(BOTH, sign, 0, 0)
        case _:
            return _winner_form(selection, sign, quarters)


def _winner_form(selection: Selection, sign: int, quarters: int) -> Form:
    if selection.side == "draw":
        return Form(LEVEL, sign, 0, 0)
    ahead = sign if selection.side == "home" else -sign
    # A team that must win outright gives half a point: a draw is then a loss.
    half = -2 if selection.market == "h2h_3way" else 0
    return Form(STRAIGHT, ahead, -ahead, sign * (quarters + half))
