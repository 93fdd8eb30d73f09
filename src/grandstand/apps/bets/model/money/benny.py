"""Kept here: how Benny decides: what he may bet on, how much, and what he learns from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.model import Tally
from grandstand.apps.bets.model.money.ledger import Cents
from grandstand.apps.bets.model.prices.odds import decimal_of
from grandstand.apps.bets.model.selections import Selection

Rule: TypeAlias = Literal[
    "too_few_books",
    "below_threshold",
    "too_little_edge",
    "no_kelly_stake",
    "one_per_game",
    "cap_per_bet",
    "cap_per_game",
    "cap_per_day",
    "cap_per_sport",
    "below_least_stake",
    "bankroll",
]

LEAST_SETTLED: Final = 10
LEAST_BOOKS: Final = 2
_GOOD_RATE: Final = 0.60
_BAD_RATE: Final = 0.45
_LOOSER: Final = -0.02
_STRICTER: Final = 0.05
_DECAY: Final = 0.9
_PLACES: Final = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bet Benny could make: at which price, with what calibrated and what fair chance."""

    game_id: str
    sport: str
    day: str
    market: str
    selection: Selection
    price: int
    book: str
    probability: float
    fair: float | None
    books: int

    @property
    def edge(self) -> float:
        """What one unit staked is expected to win."""
        return self.probability * decimal_of(self.price) - 1.0


@dataclass(frozen=True, slots=True)
class Lessons:
    """What Benny has learnt: what is added to his threshold, and his record by kind."""

    adjustment: float = 0.0
    by_sport: dict[str, Tally] = field(default_factory=dict)
    by_bet_type: dict[str, Tally] = field(default_factory=dict)
    win_rate: float = 0.0
    bets: int = 0


@dataclass(frozen=True, slots=True)
class Terms:
    """Benny's rules: the chance and edge he asks for, his share of Kelly, and his caps in cents."""

    threshold: float
    edge: float
    kelly: float
    budget: Cents
    bet_share: float
    game_share: float
    day_share: float
    sport_share: float
    least: Cents


@dataclass(frozen=True, slots=True)
class Position:
    """What Benny has: his bankroll, and what is open by game and sport and staked today."""

    bankroll: Cents
    by_game: dict[str, Cents] = field(default_factory=dict)
    by_sport: dict[str, Cents] = field(default_factory=dict)
    today: Cents = 0


@dataclass(frozen=True, slots=True)
class Stake:
    """A bet to be made, and for how much."""

    candidate: Candidate
    cents: Cents


@dataclass(frozen=True, slots=True)
class Rejected:
    """A bet that is not made, the rule that says so, and why."""

    candidate: Candidate
    rule: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Every candidate as it was decided."""

    stakes: tuple[Stake, ...]
    rejected: tuple[Rejected, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A settled bet as learning sees it."""

    sport: str
    bet_type: str
    won: bool


def threshold_for(terms: Terms, lessons: Lessons, sport: str, bet_type: str) -> float:
    """Answer the least chance Benny bets on: stricter where his record is bad."""
    bad = sum(
        _STRICTER
        for tally in (lessons.by_sport.get(sport), lessons.by_bet_type.get(bet_type))
        if tally is not None
        and tally.total >= LEAST_SETTLED
        and tally.wins / tally.total < _BAD_RATE
    )
    return round(terms.threshold + lessons.adjustment + bad, _PLACES)


def choose(
    candidates: Sequence[Candidate], terms: Terms, lessons: Lessons, position: Position
) -> Choice:
    """Decide on all candidates of a day together; each is staked or rejected by one rule."""
    rejected: list[Rejected] = []
    passed: list[Candidate] = []
    for each in candidates:
        refusal = _gate(each, terms, lessons)
        if refusal is None:
            passed.append(each)
        else:
            rejected.append(refusal)
    best = _best_of_games(passed, rejected)
    shares = _shares(best, terms)
    stakes: list[Stake] = []
    bankroll = position.bankroll
    for each, share in sorted(zip(best, shares, strict=True), key=lambda one: -one[0].edge):
        decided = _staked(each, int(bankroll * share), terms, position)
        if isinstance(decided, Rejected):
            rejected.append(decided)
            continue
        stakes.append(decided)
        position = _after(position, decided)
    return Choice(tuple(stakes), tuple(rejected))


def learn(settled: Iterable[Settled], before: Lessons) -> Lessons:
    """Answer what settled bets teach; with fewer than ten the threshold stays as it was.

    An adjustment that nothing calls for any more fades towards 0 and never beyond it.
    """
    bets = list(settled)
    wins = sum(each.won for each in bets)
    rate = wins / len(bets) if bets else 0.0
    adjustment = before.adjustment
    if len(bets) >= LEAST_SETTLED:
        if rate > _GOOD_RATE:
            adjustment = _LOOSER
        elif rate < _BAD_RATE:
            adjustment = _STRICTER
        else:
            adjustment = round(adjustment * _DECAY, _PLACES)
    return Lessons(
        adjustment,
        _tallies(bets, lambda each: each.sport),
        _tallies(bets, lambda each: each.bet_type),
        rate,
        len(bets),
    )


def _gate(candidate: Candidate, terms: Terms, lessons: Lessons) -> Rejected | None:
    least = threshold_for(terms, lessons, candidate.sport, candidate.market)
    if candidate.books < LEAST_BOOKS:
        why = f"{candidate.books} of {LEAST_BOOKS} books have a price"
        return Rejected(candidate, "too_few_books", why)
    if candidate.probability < least:
        why = f"a chance of {candidate.probability:.3f} is below {least:.3f}"
        return Rejected(candidate, "below_threshold", why)
    if candidate.edge < terms.edge:
        why = f"an expected return of {candidate.edge:.3f} is below {terms.edge:.3f}"
        return Rejected(candidate, "too_little_edge", why)
    return None


def _best_of_games(passed: Sequence[Candidate], rejected: list[Rejected]) -> list[Candidate]:
    """Keep the best bet of each game; bets on one game fall together."""
    best: dict[str, Candidate] = {}
    for each in sorted(passed, key=lambda one: (-one.edge, one.market)):
        if each.game_id in best:
            why = f"{best[each.game_id].market} of the same game is better"
            rejected.append(Rejected(each, "one_per_game", why))
        else:
            best[each.game_id] = each
    return list(best.values())


def _shares(best: Sequence[Candidate], terms: Terms) -> list[float]:
    """Answer each bet's share of the bankroll, all weighed together, without any cap."""
    if not best:
        return []
    from grandstand.apps.bets.model.money.kelly import Caps, Offer, exclusive, portfolio

    contests = [
        exclusive(
            each.game_id, each.sport, each.day, [Offer(each.probability, decimal_of(each.price))]
        )
        for each in best
    ]
    caps = Caps(bet=1.0, game=1.0, day=1.0, sport=1.0, total=1.0)
    return [shares[0] for shares in portfolio(contests, fraction=terms.kelly, caps=caps)]


def _staked(
    candidate: Candidate, wanted: Cents, terms: Terms, position: Position
) -> Stake | Rejected:
    if wanted <= 0:
        return Rejected(candidate, "no_kelly_stake", "Kelly stakes nothing on it")
    room: list[tuple[Rule, Cents]] = [
        ("cap_per_bet", int(terms.budget * terms.bet_share)),
        (
            "cap_per_game",
            int(terms.budget * terms.game_share) - position.by_game.get(candidate.game_id, 0),
        ),
        ("cap_per_day", int(terms.budget * terms.day_share) - position.today),
        (
            "cap_per_sport",
            int(terms.budget * terms.sport_share) - position.by_sport.get(candidate.sport, 0),
        ),
        ("bankroll", position.bankroll),
    ]
    rule, left = min(room, key=lambda each: each[1])
    cents = min(wanted, left)
    if cents >= terms.least:
        return Stake(candidate, cents)
    if wanted < terms.least:
        why = f"a stake of {wanted} cents is below the least of {terms.least}"
        return Rejected(candidate, "below_least_stake", why)
    return Rejected(candidate, rule, f"{max(0, left)} cents are left of {wanted} wanted")


def _after(position: Position, stake: Stake) -> Position:
    game, sport = stake.candidate.game_id, stake.candidate.sport
    return replace(
        position,
        bankroll=position.bankroll - stake.cents,
        by_game={**position.by_game, game: position.by_game.get(game, 0) + stake.cents},
        by_sport={**position.by_sport, sport: position.by_sport.get(sport, 0) + stake.cents},
        today=position.today + stake.cents,
    )


def _tallies(bets: Sequence[Settled], name: Callable[[Settled], str]) -> dict[str, Tally]:
    found: dict[str, Tally] = {}
    for each in bets:
        before = found.get(name(each), Tally(0, 0))
        found[name(each)] = Tally(before.wins + each.won, before.total + 1)
    return found
