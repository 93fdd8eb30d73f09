"""Benny's strategy: rules, caps and learning."""

from dataclasses import replace

import pytest

from grandstand.apps.bets.domain.benny import (
    BennyLessons,
    BennyPosition,
    BettingRules,
    Candidate,
    SettledBet,
    choose_bets,
    learn_from_bets,
    threshold_for,
)
from grandstand.apps.bets.domain.records import Tally
from grandstand.apps.bets.domain.selections import Selection

NBA = "basketball_nba"
TERMS = BettingRules(
    threshold=0.55,
    edge=0.02,
    kelly=0.25,
    budget=10_000,
    bet_share=0.1,
    game_share=0.15,
    day_share=0.4,
    sport_share=0.6,
    min_stake=100,
)
RICH = BennyPosition(bankroll=10_000)


def candidate(
    game_id: str = "g1", probability: float = 0.65, price: int = -110, market: str = "h2h"
) -> Candidate:
    return Candidate(
        game_id=game_id,
        sport=NBA,
        day="2026-02-11",
        market=market,
        selection=Selection("h2h", "home"),
        price=price,
        book="fanduel",
        probability=probability,
        fair=0.55,
        books=3,
    )


def test_a_good_bet_is_staked_by_a_quarter_of_kelly_within_its_cap() -> None:
    small = candidate(probability=0.56)

    [stake] = choose_bets([small], TERMS, BennyLessons(), RICH).stakes
    [capped] = choose_bets([candidate(probability=0.9)], TERMS, BennyLessons(), RICH).stakes

    # (0.56 x 1.9091 - 1) / 0.9091 / 4 is 0.019 of 100 dollars.
    assert stake.cents == pytest.approx(190, abs=1)
    assert capped.cents == 1_000


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"books": 1}, "too_few_books"),
        ({"probability": 0.549}, "below_threshold"),
        ({"probability": 0.56, "price": -130}, "too_little_edge"),
    ],
)
def test_every_rejection_names_its_rule(change: dict[str, object], rule: str) -> None:
    choice = choose_bets([replace(candidate(), **change)], TERMS, BennyLessons(), RICH)  # type: ignore[arg-type]

    assert choice.stakes == ()
    assert [each.rule for each in choice.rejected] == [rule]


def test_no_stake_is_ever_rounded_up_to_the_least() -> None:
    poor = BennyPosition(bankroll=1_000)

    choice = choose_bets([candidate(probability=0.56)], TERMS, BennyLessons(), poor)

    assert [each.rule for each in choice.rejected] == ["below_least_stake"]


def test_a_bet_without_an_edge_is_never_staked() -> None:
    free = replace(TERMS, edge=0.0, min_stake=1)

    choice = choose_bets([candidate(probability=0.5238, price=-110)], free, BennyLessons(), RICH)

    assert choice.stakes == ()


def test_only_the_best_bet_of_a_game_is_placed() -> None:
    better = candidate(probability=0.7, market="spreads")

    choice = choose_bets([candidate(), better], TERMS, BennyLessons(), RICH)

    assert [each.candidate.market for each in choice.stakes] == ["spreads"]
    assert [(each.rule, each.candidate.market) for each in choice.rejected] == [
        ("one_per_game", "h2h")
    ]


def test_the_caps_of_a_day_and_a_sport_hold_over_all_bets() -> None:
    many = [candidate(f"g{n}", probability=0.8) for n in range(8)]
    busy = BennyPosition(bankroll=10_000, by_sport={NBA: 5_500})

    day = choose_bets(many, replace(TERMS, day_share=0.12), BennyLessons(), RICH)
    sport = choose_bets(many, TERMS, BennyLessons(), busy)

    assert 1_100 < sum(each.cents for each in day.stakes) <= 1_200
    assert {each.rule for each in day.rejected} == {"cap_per_day"}
    assert sum(each.cents for each in sport.stakes) == 500
    assert {each.rule for each in sport.rejected} == {"cap_per_sport"}


def test_open_bets_on_a_game_count_for_its_cap() -> None:
    busy = BennyPosition(bankroll=10_000, by_game={"g1": 1_450})

    choice = choose_bets([candidate(probability=0.8)], TERMS, BennyLessons(), busy)

    assert [each.rule for each in choice.rejected] == ["cap_per_game"]


@pytest.mark.parametrize(
    ("wins", "before", "after"),
    [(7, 0.0, -0.02), (4, 0.0, 0.05), (5, 0.05, 0.045), (5, -0.02, -0.018), (6, 0.0, 0.0)],
)
def test_ten_settled_bets_move_the_threshold(wins: int, before: float, after: float) -> None:
    settled = [SettledBet(NBA, "h2h", n < wins) for n in range(10)]

    lessons = learn_from_bets(settled, BennyLessons(adjustment=before))

    assert lessons.adjustment == after
    assert lessons.by_sport == {NBA: Tally(wins, 10)}


def test_nine_settled_bets_move_nothing() -> None:
    settled = [SettledBet(NBA, "h2h", won=False) for _ in range(9)]

    assert learn_from_bets(settled, BennyLessons(adjustment=0.05)).adjustment == 0.05


def test_a_bad_record_raises_the_threshold() -> None:
    lessons = BennyLessons(by_sport={NBA: Tally(4, 10)}, by_bet_type={"totals": Tally(2, 9)})

    assert threshold_for(TERMS, lessons, NBA, "totals") == 0.6
    assert threshold_for(TERMS, lessons, "soccer_epl", "totals") == 0.55
