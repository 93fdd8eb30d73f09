"""The odds follow the true chances, move until the off, and pay what they say."""

import math
from datetime import date, timedelta

import pytest

from grandstand.simulators.racing.race import (
    Race,
    current_quotes,
    final_quotes,
    paid_places,
    place_probabilities,
    race_payouts,
)
from grandstand.simulators.racing.world import World


@pytest.fixture
def race(world: World) -> Race:
    return next(world.races_between("jra", date(2026, 11, 15), date(2026, 11, 15)))


def test_there_are_no_odds_before_the_draw(race: Race) -> None:
    assert current_quotes(race, race.drawn_at - timedelta(seconds=1)) is None


def test_odds_are_forecast_then_taken_then_final(race: Race) -> None:
    moments = (race.drawn_at, race.opens_at, race.off_at, race.confirmed_at)

    quotes = [current_quotes(race, moment) for moment in moments]

    assert [one.status for one in quotes if one] == ["yoso", "middle", "middle", "result"]


def test_odds_move_until_the_off_and_rest_then(race: Race) -> None:
    moments = [race.off_at - timedelta(minutes=left) for left in (90, 30, 0)]

    quotes = [current_quotes(race, moment) for moment in (*moments, race.confirmed_at)]

    early, later, last, confirmed = (one.win for one in quotes if one is not None)
    assert early != later != last
    assert last == confirmed == final_quotes(race).win


def test_the_market_keeps_its_share(world: World) -> None:
    races = world.races_between("jra", date(2026, 10, 1), date(2026, 10, 31))

    overrounds = [sum(1 / odds for odds in final_quotes(race).win.values()) for race in races]

    assert 1.2 < sum(overrounds) / len(overrounds) < 1.3


def test_favourites_are_counted_from_the_shortest_odds(race: Race) -> None:
    quotes = final_quotes(race)

    ordered = sorted(quotes.win, key=quotes.rank.__getitem__)

    assert [quotes.win[number] for number in ordered] == sorted(quotes.win.values())
    assert sorted(quotes.rank.values()) == list(range(1, len(race.running) + 1))


def test_the_market_is_noisy_but_near_the_truth(world: World) -> None:
    races = list(world.races_between("jra", date(2026, 5, 1), date(2026, 10, 31)))
    winners = [(race, race.order[0] + 1) for race in races]

    true = -sum(math.log(race.truth[number]) for race, number in winners) / len(races)
    market = -sum(math.log(final_quotes(race).shares[number]) for race, number in winners) / len(
        races
    )

    assert true < market < true + 0.1


@pytest.mark.parametrize("paid", [2, 3])
def test_chances_to_be_placed_add_up_to_the_places(race: Race, paid: int) -> None:
    assert math.isclose(sum(place_probabilities(race.truth, paid).values()), paid, rel_tol=1e-9)


def test_the_winner_pays_its_odds(race: Race) -> None:
    [win, place, *_] = race_payouts(race)
    number = race.order[0] + 1

    assert (win.kind, win.combinations) == ("Tansho", ((number,),))
    assert win.yen == (round(final_quotes(race).win[number] * 100),)
    assert len(place.yen) == paid_places(race)


def test_a_dead_heat_pays_both(world: World) -> None:
    race = next(
        race
        for race in world.races_between("jra", date(2025, 1, 5), date(2026, 11, 1))
        if race.finish.places.count(1) == 2
    )

    paid = {one.kind: one for one in race_payouts(race)}

    assert len(paid["Tansho"].yen) == 2
    assert len(paid["Umatan"].yen) == 2
    assert len(paid["Umaren"].yen) == 1
