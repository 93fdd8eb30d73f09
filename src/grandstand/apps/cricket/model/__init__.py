"""What is true of cricket: its values, and the rules that need nothing but them."""

from grandstand.apps.cricket.model.advance import Advance, advance
from grandstand.apps.cricket.model.events.kinds import Detected, EventKind, FilterReason
from grandstand.apps.cricket.model.events.thresholds import Thresholds
from grandstand.apps.cricket.model.scores import (
    Ball,
    BattingLine,
    Board,
    BowlingLine,
    Competition,
    Fixture,
    InningsScore,
    LeagueFacts,
    Revision,
    Side,
    StandingFacts,
    TeamFacts,
)
from grandstand.apps.cricket.model.state import MatchState, Memory
from grandstand.apps.cricket.model.words import (
    NEUTRAL_TEAM,
    EndReason,
    Holder,
    MatchPhase,
    MatchStatus,
    Phone,
    Seat,
    SessionStatus,
)

__all__ = [
    "NEUTRAL_TEAM",
    "Advance",
    "Ball",
    "BattingLine",
    "Board",
    "BowlingLine",
    "Competition",
    "Detected",
    "EndReason",
    "EventKind",
    "FilterReason",
    "Fixture",
    "Holder",
    "InningsScore",
    "LeagueFacts",
    "MatchPhase",
    "MatchState",
    "MatchStatus",
    "Memory",
    "Phone",
    "Revision",
    "Seat",
    "SessionStatus",
    "Side",
    "StandingFacts",
    "TeamFacts",
    "Thresholds",
    "advance",
]
