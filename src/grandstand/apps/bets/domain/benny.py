"""Benny's strategy: which bets to place, how much to stake, and what to learn from results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.domain.ledger import Cents
from grandstand.apps.bets.domain.odds import american_to_decimal
from grandstand.apps.bets.domain.records import Tally
from grandstand.apps.bets.domain.selections import Selection

RejectionRule: TypeAlias = Literal[
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

MIN_SETTLED_BETS: Final = 10
MIN_BOOKS: Final = 2
_GOOD_RATE: Final = 0.60
_BAD_RATE: Final = 0.45
_LOOSER_ADJUSTMENT: Final = -0.02
_STRICTER_ADJUSTMENT: Final = 0.05
_DECAY: Final = 0.9
_DECIMAL_PLACES: Final = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible bet: its price, and its calibrated and fair probability."""

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
        """The expected profit of one unit."""
        return self.probability * american_to_decimal(self.price) - 1.0


@dataclass(frozen=True, slots=True)
class BennyLessons:
    """What Benny has learned: the threshold adjustment, and his record by sport and bet type."""

    adjustment: float = 0.0
    by_sport: dict[str, Tally] = field(default_factory=dict)
    by_bet_type: dict[str, Tally] = field(default_factory=dict)
    win_rate: float = 0.0
    bets: int = 0


@dataclass(frozen=True, slots=True)
class BettingRules:
    """Benny's rules: required probability and edge, Kelly fraction, and caps."""

    threshold: float
    edge: float
    kelly: float
    budget: Cents
    bet_share: float
    game_share: float
    day_share: float
    sport_share: float
    min_stake: Cents


@dataclass(frozen=True, slots=True)
class BennyPosition:
    """The bankroll, open stakes by game and sport, and today's stakes."""

    bankroll: Cents
    by_game: dict[str, Cents] = field(default_factory=dict)
    by_sport: dict[str, Cents] = field(default_factory=dict)
    today: Cents = 0


@dataclass(frozen=True, slots=True)
class Stake:
    """A bet to place and its amount."""

    candidate: Candidate
    cents: Cents


@dataclass(frozen=True, slots=True)
class RejectedBet:
    """A bet not placed, the rule that rejected it, and why."""

    candidate: Candidate
    rule: RejectionRule
    reason: str


@dataclass(frozen=True, slots=True)
class BettingDecision:
    """The decision on every candidate."""

    stakes: tuple[Stake, ...]
    rejected: tuple[RejectedBet, ...]


@dataclass(frozen=True, slots=True)
class SettledBet:
    """A settled bet to learn from."""

    sport: str
    bet_type: str
    won: bool


def threshold_for(rules: BettingRules, lessons: BennyLessons, sport: str, bet_type: str) -> float:
    """Return the minimum probability to bet on, stricter where the record is bad."""
    bad = sum(
        _STRICTER_ADJUSTMENT
        for tally in (lessons.by_sport.get(sport), lessons.by_bet_type.get(bet_type))
        if tally is not None
        and tally.total >= MIN_SETTLED_BETS
        and tally.wins / tally.total < _BAD_RATE
    )
    return round(rules.threshold + lessons.adjustment + bad, _DECIMAL_PLACES)


def choose_bets(
    candidates: Sequence[Candidate],
    rules: BettingRules,
    lessons: BennyLessons,
    position: BennyPosition,
) -> BettingDecision:
    """Decide on all candidates of a day together; each is staked or rejected by one rule."""
    rejected: list[RejectedBet] = []
    passed: list[Candidate] = []
    for candidate in candidates:
        refusal = _reject(candidate, rules, lessons)
        if refusal is None:
            passed.append(candidate)
        else:
            rejected.append(refusal)
    best = _best_of_games(passed, rejected)
    shares = _shares(best, rules)
    stakes: list[Stake] = []
    bankroll = position.bankroll
    for candidate, share in sorted(zip(best, shares, strict=True), key=lambda bet: -bet[0].edge):
        decided = _apply_caps(candidate, int(bankroll * share), rules, position)
        if isinstance(decided, RejectedBet):
            rejected.append(decided)
            continue
        stakes.append(decided)
        position = _add_stake(position, decided)
    return BettingDecision(tuple(stakes), tuple(rejected))


def learn_from_bets(settled: Iterable[SettledBet], before: BennyLessons) -> BennyLessons:
    """Return the lessons of settled bets; below ten bets the threshold is unchanged.

    An adjustment that no longer applies decays toward 0.
    """
    bets = list(settled)
    wins = sum(bet.won for bet in bets)
    rate = wins / len(bets) if bets else 0.0
    adjustment = before.adjustment
    if len(bets) >= MIN_SETTLED_BETS:
        if rate > _GOOD_RATE:
            adjustment = _LOOSER_ADJUSTMENT
        elif rate < _BAD_RATE:
            adjustment = _STRICTER_ADJUSTMENT
        else:
            adjustment = round(adjustment * _DECAY, _DECIMAL_PLACES)
    return BennyLessons(
        adjustment,
        _tallies(bets, lambda bet: bet.sport),
        _tallies(bets, lambda bet: bet.bet_type),
        rate,
        len(bets),
    )


def _reject(candidate: Candidate, rules: BettingRules, lessons: BennyLessons) -> RejectedBet | None:
    threshold = threshold_for(rules, lessons, candidate.sport, candidate.market)
    if candidate.books < MIN_BOOKS:
        reason = f"{candidate.books} of {MIN_BOOKS} required bookmakers have a price"
        return RejectedBet(candidate, "too_few_books", reason)
    if candidate.probability < threshold:
        reason = f"probability {candidate.probability:.3f} is below {threshold:.3f}"
        return RejectedBet(candidate, "below_threshold", reason)
    if candidate.edge < rules.edge:
        reason = f"expected return {candidate.edge:.3f} is below {rules.edge:.3f}"
        return RejectedBet(candidate, "too_little_edge", reason)
    return None


def _best_of_games(passed: Sequence[Candidate], rejected: list[RejectedBet]) -> list[Candidate]:
    """Return the best bet of each game, since bets on one game are correlated."""
    best: dict[str, Candidate] = {}
    for candidate in sorted(passed, key=lambda bet: (-bet.edge, bet.market)):
        if candidate.game_id in best:
            reason = f"{best[candidate.game_id].market} of the same game is better"
            rejected.append(RejectedBet(candidate, "one_per_game", reason))
        else:
            best[candidate.game_id] = candidate
    return list(best.values())


def _shares(best: Sequence[Candidate], rules: BettingRules) -> list[float]:
    """Return each bet's share of the bankroll by portfolio Kelly, without caps."""
    if not best:
        return []
    from grandstand.apps.bets.domain.kelly import Caps, Offer, exclusive_contest, optimize_portfolio

    contests = [
        exclusive_contest(
            candidate.game_id,
            candidate.sport,
            candidate.day,
            [Offer(candidate.probability, american_to_decimal(candidate.price))],
        )
        for candidate in best
    ]
    caps = Caps(bet=1.0, game=1.0, day=1.0, sport=1.0, total=1.0)
    return [shares[0] for shares in optimize_portfolio(contests, fraction=rules.kelly, caps=caps)]


def _apply_caps(
    candidate: Candidate, kelly_cents: Cents, rules: BettingRules, position: BennyPosition
) -> Stake | RejectedBet:
    if kelly_cents <= 0:
        return RejectedBet(candidate, "no_kelly_stake", "the Kelly stake is zero")
    caps: list[tuple[RejectionRule, Cents]] = [
        ("cap_per_bet", int(rules.budget * rules.bet_share)),
        (
            "cap_per_game",
            int(rules.budget * rules.game_share) - position.by_game.get(candidate.game_id, 0),
        ),
        ("cap_per_day", int(rules.budget * rules.day_share) - position.today),
        (
            "cap_per_sport",
            int(rules.budget * rules.sport_share) - position.by_sport.get(candidate.sport, 0),
        ),
        ("bankroll", position.bankroll),
    ]
    rule, left = min(caps, key=lambda cap: cap[1])
    cents = min(kelly_cents, left)
    if cents >= rules.min_stake:
        return Stake(candidate, cents)
    if kelly_cents < rules.min_stake:
        reason = f"stake of {kelly_cents} cents is below the minimum of {rules.min_stake}"
        return RejectedBet(candidate, "below_least_stake", reason)
    return RejectedBet(
        candidate, rule, f"{max(0, left)} of {kelly_cents} cents are left under the cap"
    )


def _add_stake(position: BennyPosition, stake: Stake) -> BennyPosition:
    game, sport = stake.candidate.game_id, stake.candidate.sport
    return replace(
        position,
        bankroll=position.bankroll - stake.cents,
        by_game={**position.by_game, game: position.by_game.get(game, 0) + stake.cents},
        by_sport={**position.by_sport, sport: position.by_sport.get(sport, 0) + stake.cents},
        today=position.today + stake.cents,
    )


def _tallies(bets: Sequence[SettledBet], key: Callable[[SettledBet], str]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for bet in bets:
        before = tallies.get(key(bet), Tally(0, 0))
        tallies[key(bet)] = Tally(before.wins + bet.won, before.total + 1)
    return tallies
