"""Kept here: what can be chosen about the trainer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grandstand.kit.settings import Section


class TrainerSettings(Section):
    """The trainer: who judges, how long that may take, and how much may be written."""

    judge: Literal["offline", "model"] = Field(
        default="offline",
        description="Who judges: offline (signals of the text) or model (the language model).",
    )
    second_judge: Literal["none", "offline", "model"] = Field(
        default="none", description="Who is asked for a second opinion; none offers no such thing."
    )
    window: int = Field(
        default=10, ge=1, le=50, description="How many of the last attempts a profile looks at."
    )
    answer_chars: int = Field(
        default=20_000, ge=100, le=50_000, description="The longest answer to one question."
    )
    wait_seconds: float = Field(
        default=5.0,
        ge=0,
        le=25,
        description="How long a submission waits for its scores; 0 leaves judging for afterwards.",
    )
    judging_seconds: float = Field(
        default=25.0,
        gt=0,
        le=28,
        description="The longest one judging may take before it is tried again later.",
    )
    scenario_seconds: float = Field(
        default=60.0, ge=0, description="How long scenarios are remembered before they are reread."
    )
    scenario_write_units: float = Field(
        default=1.0,
        ge=0,
        description=(
            "Write units a second that loading scenarios into DynamoDB keeps to; 0 does not wait."
        ),
    )
