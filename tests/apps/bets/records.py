"""Sample records of every entity, under the names of the specification."""

from datetime import UTC, date, datetime
from decimal import Decimal

from grandstand.apps.bets.domain.records import PricedOutcome, Tally
from grandstand.apps.bets.store.benny import Bankroll, BankrollHistory, BennyBet, Learning
from grandstand.apps.bets.store.games import (
    GameOdds,
    GameOutcome,
    HistoricalOdds,
    Injury,
    PlayerStats,
    PropOdds,
    TeamOutcome,
    TeamStats,
)
from grandstand.apps.bets.store.predictions import Analysis, ModelAdjustment, Prediction
from grandstand.apps.bets.store.user_models import UserModel
from grandstand.storage.tables import Entity

MORNING = datetime(2026, 2, 11, 14, tzinfo=UTC)
START = datetime(2026, 2, 11, 19, tzinfo=UTC)
NIGHT = datetime(2026, 2, 11, 22, tzinfo=UTC)
LAKERS = "Los Angeles Lakers"
CELTICS = "Boston Celtics"

GAME_ODDS = GameOdds(
    game_id="abc123",
    sport="basketball_nba",
    home_team=LAKERS,
    away_team=CELTICS,
    bookmaker="fanduel",
    market_key="spreads",
    captured_at=MORNING,
    commence_time=START,
    outcomes=(
        PricedOutcome(LAKERS, -150, Decimal("-3.5")),
        PricedOutcome(CELTICS, 130, Decimal("3.5")),
    ),
    created_at=MORNING,
)
PROP_ODDS = PropOdds(
    game_id="abc123",
    sport="basketball_nba",
    home_team=LAKERS,
    away_team=CELTICS,
    player="LeBron James",
    bookmaker="fanduel",
    market_key="player_points",
    captured_at=MORNING,
    commence_time=START,
    outcomes=(
        PricedOutcome("Over", -115, Decimal("25.5")),
        PricedOutcome("Under", -105, Decimal("25.5")),
    ),
    created_at=MORNING,
)
ANALYSIS = Analysis(
    model="consensus",
    analysis_type="game",
    sport="basketball_nba",
    bookmaker="fanduel",
    game_id="abc123",
    home_team=LAKERS,
    away_team=CELTICS,
    prediction=LAKERS,
    confidence=Decimal("0.72"),
    reasoning="Most bookmakers agree",
    commence_time=START,
    created_at=MORNING,
)
INVERSE = ANALYSIS.replace(
    prediction=CELTICS, confidence=Decimal("0.28"), is_inverse=True, original_prediction=LAKERS
)
PROP_ANALYSIS = ANALYSIS.replace(
    analysis_type="prop",
    player_name="LeBron James",
    market_key="player_points",
    prediction="Over 25.5",
)
PROP_INVERSE = PROP_ANALYSIS.replace(
    prediction="Under 25.5", is_inverse=True, original_prediction="Over 25.5"
)
PREDICTION = Prediction(
    model="consensus",
    analysis_type="game",
    sport="basketball_nba",
    bookmaker="fanduel",
    game_id="abc123",
    home_team=LAKERS,
    away_team=CELTICS,
    prediction=LAKERS,
    confidence=Decimal("0.72"),
    reasoning="Most bookmakers agree",
    commence_time=START,
    created_at=MORNING,
)
GAME_OUTCOME = GameOutcome(
    game_id="abc123",
    sport="basketball_nba",
    home_team=LAKERS,
    away_team=CELTICS,
    home_score=Decimal(112),
    away_score=Decimal(108),
    winner=LAKERS,
    completed_at=NIGHT,
)
TEAM_OUTCOME = TeamOutcome(
    completed_at=NIGHT,
    game_id="abc123",
    sport="basketball_nba",
    team=LAKERS,
    opponent=CELTICS,
    team_score=Decimal(112),
    opponent_score=Decimal(108),
    winner=LAKERS,
    is_home=True,
)
USER_MODEL = UserModel(
    user_id="user123",
    model_id="model-uuid-456",
    name="My NBA Model",
    sport="basketball_nba",
    bet_types=("h2h",),
    data_sources={
        "team_stats": Decimal("0.3"),
        "odds_movement": Decimal("0.2"),
        "injuries": Decimal("0.2"),
        "recent_form": Decimal("0.2"),
        "head_to_head": Decimal("0.1"),
    },
    min_confidence=Decimal("0.6"),
    auto_adjust_weights=True,
    created_at=MORNING,
    updated_at=MORNING,
)
BENNY_BET = BennyBet(
    bet_id="BET#2026-02-11T14:00:00Z#abc123",
    game_id="abc123",
    sport="basketball_nba",
    home_team=LAKERS,
    away_team=CELTICS,
    prediction=LAKERS,
    confidence=Decimal("0.72"),
    ai_reasoning="A strong record at home",
    ai_key_factors=("Home court",),
    bet_amount=Decimal("15.50"),
    odds=-150,
    market_key="h2h",
    commence_time=START,
    placed_at=MORNING,
    bankroll_before=Decimal("85.50"),
)
ADJUSTMENT = ModelAdjustment(
    model="momentum",
    sport="basketball_nba",
    bet_type="game",
    recommendation="AVOID",
    original_accuracy=Decimal("0.5"),
    inverse_accuracy=Decimal("0.5"),
    sample_size=4,
    confidence_multiplier=Decimal("0.5"),
    lookback_days=30,
    updated_at=MORNING,
    calculated_at=MORNING,
    expires_at=datetime(2026, 2, 12, 14, tzinfo=UTC),
    evidence="INSUFFICIENT_DATA",
    expires=None,
)
BANKROLL = Bankroll(
    amount=Decimal("85.50"), last_reset=datetime(2026, 2, 9, tzinfo=UTC), updated_at=MORNING
)

RECORDS: dict[str, tuple[Entity, ...]] = {
    "Game Odds Record": (GAME_ODDS,),
    "Prop Odds Record": (PROP_ODDS,),
    "Analysis Record": (
        ANALYSIS,
        INVERSE,
        ANALYSIS.replace(actual_home_won=True, analysis_correct=True, outcome_verified_at=NIGHT),
        INVERSE.replace(actual_home_won=True, analysis_correct=False, outcome_verified_at=NIGHT),
    ),
    "Prop Analysis Record": (
        PROP_ANALYSIS,
        PROP_INVERSE,
        PROP_ANALYSIS.replace(
            actual_home_won=True, analysis_correct=True, outcome_verified_at=NIGHT
        ),
        PROP_INVERSE.replace(
            actual_home_won=True, analysis_correct=False, outcome_verified_at=NIGHT
        ),
    ),
    "Game Outcome": (GAME_OUTCOME,),
    "Team Outcome": (TEAM_OUTCOME,),
    "User Model": (USER_MODEL,),
    "Benny Bet": (
        BENNY_BET,
        BENNY_BET.replace(
            status="won", payout=Decimal("25.83"), profit=Decimal("10.33"), settled_at=NIGHT
        ),
    ),
    "Benny Bankroll": (BANKROLL,),
    "Benny Bankroll History": (BankrollHistory(amount=Decimal("85.50"), updated_at=MORNING),),
    "Model Adjustment": (ADJUSTMENT,),
    "Team Stats": (
        TeamStats(
            team=LAKERS,
            sport="basketball_nba",
            season="2025-26",
            stat_date=date(2026, 2, 10),
            stats={
                "Field Goal %": Decimal("48.1"),
                "Three Point %": Decimal("36.4"),
                "Rebounds": Decimal("44.2"),
                "Assists": Decimal("26.9"),
            },
            updated_at=MORNING,
        ),
    ),
    "Player Stats": (
        PlayerStats(
            player_name="LeBron James",
            sport="basketball_nba",
            team=LAKERS,
            game_id="abc123",
            stats={"PTS": Decimal(28), "REB": Decimal(8), "AST": Decimal(9)},
            updated_at=NIGHT,
        ),
    ),
    "Injury Record": (
        Injury(
            team=LAKERS,
            player="Anthony Davis",
            sport="basketball_nba",
            reported_on=date(2026, 2, 11),
            status="out",
            injury="ankle",
            impact=Decimal("0.4"),
            updated_at=MORNING,
        ),
    ),
    "Historical Odds Record": (
        HistoricalOdds(
            game_id="abc123",
            sport="basketball_nba",
            home_team=LAKERS,
            away_team=CELTICS,
            bookmaker="fanduel",
            market_key="h2h",
            outcomes=(PricedOutcome(LAKERS, -150, Decimal(0)),),
            commence_time=START,
            updated_at=MORNING,
            archived_at=NIGHT,
        ),
    ),
    "Learning Parameters Record": (
        Learning(
            min_confidence_adjustment=Decimal("-0.02"),
            kelly_fraction=Decimal("0.25"),
            performance_by_sport={"basketball_nba": Tally(15, 25)},
            performance_by_bet_type={"h2h": Tally(20, 32)},
            overall_win_rate=Decimal("0.622"),
            total_bets_analyzed=37,
            last_updated=MORNING,
        ),
    ),
}
