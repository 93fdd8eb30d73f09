"""The built-in models pick either side and give their reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.forecasts import Forecast, Predictor, clamped_log_odds
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.models import (
    ConsensusModel,
    ContrarianModel,
    EloModel,
    FundamentalsModel,
    GoalsModel,
    HotColdModel,
    InjuryAwareModel,
    MarginModel,
    MatchupModel,
    MomentumModel,
    PlayerStatsModel,
    RestScheduleModel,
    ValueModel,
)
from grandstand.apps.bets.domain.records import (
    Fixture,
    InjuryReport,
    PlayerGameStats,
    PricedOutcome,
    Quote,
    TeamGameStats,
)
from tests.apps.bets.domain.games import (
    BEGUN,
    DAY,
    HOUR,
    SPORT,
    fixture,
    h2h,
    score,
    small_history,
    spread,
    total,
)

GAME = fixture(50, "ants", "bears")
START = GAME.commence_time


def forecast_of(
    model: Predictor, facts: Sequence[Fact], market: str = "h2h", game: Fixture = GAME
) -> Forecast | None:
    view = History([game, *facts]).as_of(game.commence_time - HOUR)
    return model.predict(game, view, market)


def side(forecast: Forecast | None) -> str | None:
    return None if forecast is None else forecast.selection.side


def even(market: str = "h2h") -> list[Fact]:
    at = START - 9 * HOUR
    quotes = {
        "h2h": h2h(GAME, "alpha", at, -110, -110),
        "spreads": spread(GAME, "alpha", at, "-3.5", (-110, -110)),
        "totals": total(GAME, "alpha", at, "221.5", (-110, -110)),
    }
    return [quotes[market]]


def results(team: str, other: str, margin: int, count: int = 6, *, mark: str = "g") -> list[Fact]:
    games = [
        replace(fixture(number, team, other), game_id=f"{mark}{number}") for number in range(count)
    ]
    return [*games, *(score(game, 110 + margin, 110) for game in games)]


@pytest.mark.parametrize(("home", "away", "picked"), [(-150, 130, "home"), (140, -160, "away")])
def test_consensus_picks_the_favorite(home: int, away: int, picked: str) -> None:
    quotes = [h2h(GAME, book, START - 5 * HOUR, home, away) for book in ("alpha", "beta")]

    forecast = forecast_of(ConsensusModel(), quotes)

    assert forecast is not None
    assert side(forecast) == picked
    assert forecast.raw == forecast.fair
    assert forecast.raw > 0.5
    assert math.isclose(
        sum(each.contribution for each in forecast.reasons), clamped_log_odds(forecast.raw)
    )


def test_the_seed_game_is_worth_what_power_says_it_is() -> None:
    forecast = forecast_of(ConsensusModel(), [h2h(GAME, "alpha", START - 5 * HOUR, -150, 130)])

    assert forecast is not None
    assert math.isclose(forecast.raw, 0.583983, abs_tol=1e-6)


@pytest.mark.parametrize(("generous", "picked"), [((-140, 120), "home"), ((-170, 175), "away")])
def test_value_takes_the_price_the_other_books_think_too_high(
    generous: tuple[int, int], picked: str
) -> None:
    at = START - 5 * HOUR
    quotes = [h2h(GAME, book, at, -150, 140) for book in ("alpha", "beta", "delta")]

    forecast = forecast_of(
        ValueModel(min_expected_value=-1.0), [*quotes, h2h(GAME, "gamma", at, *generous)]
    )

    assert forecast is not None
    assert (side(forecast), forecast.book) == (picked, "gamma")


def test_value_is_silent_when_no_price_is_better_than_fair() -> None:
    at = START - 5 * HOUR
    quotes = [h2h(GAME, book, at, -110, -110) for book in ("alpha", "beta", "delta")]

    assert forecast_of(ValueModel(), quotes) is None


MOVES = [
    ("h2h", (-110, -110), (-150, 130), "home"),
    ("h2h", (-110, -110), (130, -150), "away"),
]


@pytest.mark.parametrize(("market", "before", "after", "picked"), MOVES)
def test_momentum_follows_a_books_own_prices_over_time(
    market: str, before: tuple[int, int], after: tuple[int, int], picked: str
) -> None:
    path = [
        h2h(GAME, "alpha", START - 9 * HOUR, *before),
        h2h(GAME, "alpha", START - 3 * HOUR, *after),
    ]

    assert side(forecast_of(MomentumModel(), path, market)) == picked


@pytest.mark.parametrize(("line", "picked"), [("-5.5", "home"), ("-1.5", "away")])
def test_momentum_counts_a_moved_line(line: str, picked: str) -> None:
    path = [
        spread(GAME, "alpha", START - 9 * HOUR, "-3.5", (-110, -110)),
        spread(GAME, "alpha", START - 3 * HOUR, line, (-110, -110)),
    ]

    forecast = forecast_of(MomentumModel(), path, "spreads")

    assert forecast is not None
    assert side(forecast) == picked
    assert abs(forecast.selection.point or 0) == abs(Decimal(line))


def test_contrarian_is_against_what_momentum_follows() -> None:
    path = [
        h2h(GAME, "alpha", START - 9 * HOUR, -110, -110),
        h2h(GAME, "alpha", START - 3 * HOUR, -150, 130),
    ]

    assert side(forecast_of(ContrarianModel(), path)) == "away"
    assert (
        side(forecast_of(ContrarianModel(), [h2h(GAME, "alpha", START - 9 * HOUR, 130, -150)]))
        == "home"
    )


@pytest.mark.parametrize(("margin", "picked"), [(9, "home"), (-9, "away")])
def test_hot_cold_picks_the_team_in_form(margin: int, picked: str) -> None:
    facts = [*even(), *results("ants", "cats", margin), *results("bears", "dogs", 0, mark="x")]

    assert side(forecast_of(HotColdModel(), facts)) == picked
    assert side(forecast_of(HotColdModel(), [*facts, *even("spreads")], "spreads")) == picked


@pytest.mark.parametrize(("rested", "picked"), [("ants", "home"), ("bears", "away")])
def test_rest_schedule_picks_the_fresher_team(rested: str, picked: str) -> None:
    tired = "bears" if rested == "ants" else "ants"
    games = [fixture(46, rested, "cats"), fixture(49, tired, "dogs")]

    assert side(forecast_of(RestScheduleModel(), [*even(), *games])) == picked


@pytest.mark.parametrize(("margin", "picked"), [(5, "home"), (-5, "away")])
def test_matchup_looks_at_earlier_meetings_wherever_they_were_played(
    margin: int, picked: str
) -> None:
    facts = [*even(), *results("bears", "ants", -margin)]

    assert side(forecast_of(MatchupModel(), facts)) == picked


def test_matchup_compares_stats_both_teams_have() -> None:
    known = START - DAY
    rows = [
        TeamGameStats(SPORT, "ants", {"rebounds": 38.0, "jersey": 9.0}, known, known),
        TeamGameStats(SPORT, "bears", {"rebounds": 46.0}, known, known),
    ]

    forecast = forecast_of(MatchupModel(), [*even(), *rows])

    assert side(forecast) == "away"
    assert forecast is not None
    assert {each.source for each in forecast.reasons} == {"team_stats", "market"}


@pytest.mark.parametrize(("team", "picked"), [("bears", "home"), ("ants", "away")])
def test_injury_aware_picks_the_team_that_misses_less(team: str, picked: str) -> None:
    known = START - 4 * HOUR
    report = InjuryReport(SPORT, team, "star", "Out", 0.4, known, known)

    assert side(forecast_of(InjuryAwareModel(), [*even(), report])) == picked


def test_an_injury_reported_after_the_moment_is_not_known() -> None:
    known = START - HOUR / 2
    report = InjuryReport(SPORT, "ants", "star", "out", 0.4, known, known)

    assert forecast_of(InjuryAwareModel(), [*even(), report]) is None


@pytest.mark.parametrize("model", [EloModel(), MarginModel(), FundamentalsModel()])
@pytest.mark.parametrize(
    ("home", "away", "picked"), [("ants", "eels", "home"), ("eels", "ants", "away")]
)
def test_ratings_pick_the_stronger_team_home_or_away(
    model: Predictor, home: str, away: str, picked: str
) -> None:
    history = small_history(60)
    game = replace(GAME, game_id="new", home=home, away=away, commence_time=BEGUN + 61 * DAY)
    history.add(game)

    forecast = model.predict(game, history.as_of(BEGUN + 60 * DAY + 20 * HOUR), "h2h")

    assert side(forecast) == picked


def test_ratings_say_nothing_of_teams_that_have_not_played() -> None:
    silent = [
        forecast_of(model, even())
        for model in (EloModel(), MarginModel(), FundamentalsModel(), GoalsModel())
    ]

    assert silent == [None] * 4


@pytest.mark.parametrize(("line", "picked"), [("200.5", "over"), ("240.5", "under")])
def test_the_margin_model_picks_either_side_of_a_total(line: str, picked: str) -> None:
    facts = [
        *results("ants", "cats", 2),
        *results("bears", "dogs", 2, mark="x"),
        total(GAME, "alpha", START - 9 * HOUR, line, (-110, -110)),
    ]

    forecast = forecast_of(MarginModel(), facts, "totals")

    assert side(forecast) == picked
    assert forecast is not None
    assert forecast.selection.point == Decimal(line)


def test_goals_price_three_way_spreads_and_totals_from_one_fit() -> None:
    game = replace(fixture(90, "ants", "foxes"), sport="soccer_epl", game_id="new")
    facts: list[Fact] = []
    for number in range(80):
        home, away = ("ants", "foxes") if number % 2 else ("foxes", "ants")
        played = fixture(number, home, away, sport="soccer_epl")
        strong = 2 + number % 2
        goals = (strong, number % 3 == 0) if home == "ants" else (number % 3 == 0, strong)
        facts += [played, score(played, int(goals[0]), int(goals[1]))]
    at = game.commence_time - 3 * HOUR
    facts += [
        h2h(game, "alpha", at, -120, 300, draw=260),
        spread(game, "alpha", at, "-0.5", (110, -130)),
        total(game, "alpha", at, "2.5", (-110, -110)),
    ]

    found = [
        forecast_of(GoalsModel(), facts, market, game)
        for market in ("h2h_3way", "spreads", "totals")
    ]

    assert [side(each) for each in found] == ["home", "home", "over"]


def prop(line: str) -> list[Fact]:
    point, at = Decimal(line), START - 5 * HOUR
    outcomes = (PricedOutcome("Under", -110, point), PricedOutcome("Over", -110, point))
    return [Quote(GAME.game_id, "alpha", "player_points", at, outcomes, at, "star")]


def star_games(points: Sequence[float]) -> list[Fact]:
    return [
        PlayerGameStats(
            SPORT,
            "star",
            "ants",
            "cats",
            f"g{number}",
            {"PTS": value, "MIN": 34.0},
            BEGUN + number * DAY,
            BEGUN + number * DAY,
        )
        for number, value in enumerate(points)
    ]


@pytest.mark.parametrize(("line", "picked"), [("20.5", "over"), ("29.5", "under")])
def test_player_stats_picks_either_side_of_a_line(line: str, picked: str) -> None:
    facts = [GAME, *prop(line), *star_games([24, 26, 25, 23, 27, 26])]
    view = History(facts).as_of(START - HOUR)

    forecast = PlayerStatsModel().predict(GAME, view, "player_points", "star")

    assert side(forecast) == picked
    assert forecast is not None
    assert (forecast.selection.participant, forecast.selection.stat) == ("star", "player_points")


@pytest.mark.parametrize("why", ["few", "out"])
def test_player_stats_says_nothing_of_few_games_or_a_player_who_sits(why: str) -> None:
    games = star_games([24, 26, 25, 23, 27, 26][: 4 if why == "few" else 6])
    at = START - 5 * HOUR
    report = InjuryReport(SPORT, "ants", "star", "out" if why == "out" else "active", 0.2, at, at)
    view = History([GAME, *prop("20.5"), *games, report]).as_of(START - HOUR)

    assert PlayerStatsModel().predict(GAME, view, "player_points", "star") is None
