"""Settings of bets: feeds, sports, Benny's strategy and limits per user."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from grandstand.kit.settings import Section


class BetsSettings(Section):
    """Bets: feeds, sports and markets, Benny's rules and limits per user."""

    odds_url: str = Field(
        default="https://api.the-odds-api.com", description="Base URL of The Odds API."
    )
    odds_key: SecretStr | None = Field(
        default=None, description="API key of The Odds API; no odds are fetched without it."
    )
    odds_reserve: int = Field(
        default=50, ge=0, description="Credits reserved for fetching scores to settle bets."
    )
    espn_url: str = Field(
        default="",
        description="Base URL of ESPN (https://site.api.espn.com); empty to disable it.",
    )
    stats_folder: Path | None = Field(
        default=None,
        description="Folder with stats, schedules, injuries and results as CSV or JSON.",
    )
    sports: tuple[str, ...] = Field(
        default=(
            "basketball_nba",
            "americanfootball_nfl",
            "baseball_mlb",
            "icehockey_nhl",
            "soccer_epl",
        ),
        description="Sports to collect, as JSON.",
    )
    prop_sports: tuple[str, ...] = Field(
        default=("basketball_nba", "americanfootball_nfl"),
        description="Sports whose player props are collected, as JSON.",
    )
    markets: tuple[str, ...] = Field(
        default=("h2h", "spreads", "totals"), description="Markets to collect, as JSON."
    )
    prop_markets: tuple[str, ...] = Field(
        default=("player_points", "player_rebounds", "player_assists", "player_pass_yds"),
        description="Player props to collect, as JSON.",
    )
    bookmakers: tuple[str, ...] = Field(
        default=("fanduel", "draftkings", "betmgm", "caesars"),
        description="Bookmakers whose prices predictions use, in order of preference, as JSON.",
    )
    horizon_days: int = Field(
        default=7, ge=1, le=30, description="Days ahead for which games are predicted."
    )
    history_days: int = Field(default=400, ge=30, description="Days of results that models use.")
    score_days: int = Field(
        default=3, ge=1, le=3, description="Days of scores to request from the odds feed."
    )
    void_days: int = Field(
        default=21,
        ge=4,
        description="Days after its start when a game without a result is void.",
    )
    stale_minutes: int = Field(
        default=90, ge=1, description="Maximum age of a price for line shopping, in minutes."
    )
    user_models: int = Field(default=5, ge=0, description="Maximum number of models per user.")
    dataset_rows: int = Field(
        default=10_000, ge=1, description="Maximum number of rows per dataset."
    )
    backtest_games: int = Field(
        default=5000, ge=1, description="Maximum number of games per backtest."
    )

    benny_budget_cents: int = Field(
        default=10_000, ge=100, description="Benny's weekly budget in cents."
    )
    benny_hours: int = Field(
        default=24, ge=1, le=168, description="Hours ahead for which Benny looks for bets."
    )
    benny_threshold: float = Field(
        default=0.55,
        ge=0.5,
        le=0.95,
        description="Minimum calibrated probability of Benny's bets, before learned adjustments.",
    )
    benny_edge: float = Field(
        default=0.02, ge=0, le=0.5, description="Minimum expected return of Benny's bets."
    )
    benny_kelly: float = Field(
        default=0.25, gt=0, le=1, description="Fraction of the Kelly stake that Benny bets."
    )
    benny_bet_share: float = Field(
        default=0.1, gt=0, le=1, description="Maximum share of the budget on one bet."
    )
    benny_game_share: float = Field(
        default=0.15, gt=0, le=1, description="Maximum share of the budget on one game."
    )
    benny_day_share: float = Field(
        default=0.4, gt=0, le=1, description="Maximum share of the budget staked per day."
    )
    benny_sport_share: float = Field(
        default=0.6, gt=0, le=1, description="Maximum share of the budget open in one sport."
    )
    benny_min_stake_cents: int = Field(
        default=100, ge=1, description="Minimum stake in cents; smaller bets are not placed."
    )
