"""Kept here: what can be chosen about bets: feeds, sports, how Benny bets, and people's limits."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from grandstand.kit.settings import Section


class BetsSettings(Section):
    """Bets: the feeds, what is followed, Benny's rules and what people may have."""

    odds_url: str = Field(
        default="https://api.the-odds-api.com", description="Where odds and scores are."
    )
    odds_key: SecretStr | None = Field(
        default=None, description="The key of The Odds API; nothing is fetched without it."
    )
    odds_reserve: int = Field(
        default=50, ge=0, description="Credits that are left untouched for settling bets."
    )
    espn_url: str = Field(
        default="",
        description="Where ESPN's figures are (https://site.api.espn.com); none when empty.",
    )
    stats_folder: Path | None = Field(
        default=None, description="A folder of files with figures, schedules and injuries."
    )
    sports: tuple[str, ...] = Field(
        default=(
            "basketball_nba",
            "americanfootball_nfl",
            "baseball_mlb",
            "icehockey_nhl",
            "soccer_epl",
        ),
        description="The sports that are followed, as JSON.",
    )
    prop_sports: tuple[str, ...] = Field(
        default=("basketball_nba", "americanfootball_nfl"),
        description="The sports whose player markets are followed, as JSON.",
    )
    markets: tuple[str, ...] = Field(
        default=("h2h", "spreads", "totals"), description="The markets that are fetched, as JSON."
    )
    prop_markets: tuple[str, ...] = Field(
        default=("player_points", "player_rebounds", "player_assists", "player_pass_yds"),
        description="The player markets that are fetched, as JSON.",
    )
    bookmakers: tuple[str, ...] = Field(
        default=("fanduel", "draftkings", "betmgm", "caesars"),
        description="Whose prices predictions are published at, best known first, as JSON.",
    )
    horizon_days: int = Field(
        default=7, ge=1, le=30, description="How many days ahead games are predicted."
    )
    history_days: int = Field(
        default=400, ge=30, description="How many days back models look for results."
    )
    score_days: int = Field(
        default=3, ge=1, le=3, description="How many days back the feed tells scores."
    )
    void_days: int = Field(
        default=21,
        ge=4,
        description="How many days after its start a game without a result is void.",
    )
    stale_minutes: int = Field(
        default=90, ge=1, description="How old a price may be to be shopped for, in minutes."
    )
    user_models: int = Field(default=5, ge=0, description="How many models a person may have.")
    dataset_rows: int = Field(
        default=10_000, ge=1, description="How many rows a table of figures may have."
    )
    backtest_games: int = Field(
        default=5000, ge=1, description="How many games a back-test may go through."
    )

    benny_budget_cents: int = Field(
        default=10_000, ge=100, description="What Benny begins each week with, in cents."
    )
    benny_hours: int = Field(
        default=24, ge=1, le=168, description="How many hours ahead Benny looks for bets."
    )
    benny_threshold: float = Field(
        default=0.55,
        ge=0.5,
        le=0.95,
        description="The least calibrated chance Benny bets on, before what he has learnt.",
    )
    benny_edge: float = Field(
        default=0.02, ge=0, le=0.5, description="The least expected return of a bet of Benny's."
    )
    benny_kelly: float = Field(
        default=0.25, gt=0, le=1, description="The share of the Kelly stake Benny takes."
    )
    benny_bet_share: float = Field(
        default=0.1, gt=0, le=1, description="The most of his budget Benny puts on one bet."
    )
    benny_game_share: float = Field(
        default=0.15, gt=0, le=1, description="The most of his budget Benny puts on one game."
    )
    benny_day_share: float = Field(
        default=0.4, gt=0, le=1, description="The most of his budget Benny stakes in one day."
    )
    benny_sport_share: float = Field(
        default=0.6, gt=0, le=1, description="The most of his budget Benny has open in one sport."
    )
    benny_least_cents: int = Field(
        default=100, ge=1, description="Benny makes no bet below this, and never rounds up to it."
    )
