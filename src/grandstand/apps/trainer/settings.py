"""Settings of the trainer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grandstand.kit.settings import Section


class TrainerSettings(Section):
    """The trainer: the judges, their time limits, and limits on answers."""

    judge: Literal["offline", "model"] = Field(
        default="offline",
        description="The judge: offline (rules about the text) or model (the language model).",
    )
    second_judge: Literal["none", "offline", "model"] = Field(
        default="none", description="The judge for second opinions; none disables them."
    )
    window: int = Field(
        default=10, ge=1, le=50, description="Number of recent attempts a profile is based on."
    )
    answer_chars: int = Field(
        default=20_000, ge=100, le=50_000, description="Maximum characters of one answer."
    )
    wait_seconds: float = Field(
        default=5.0,
        ge=0,
        le=25,
        description="How long a submission waits for its scores; 0 always evaluates later.",
    )
    judge_timeout_seconds: float = Field(
        default=25.0,
        gt=0,
        le=28,
        description="Time limit of one evaluation, after which it is retried later.",
    )
    scenario_seconds: float = Field(
        default=60.0, ge=0, description="How long scenarios are cached."
    )
    scenario_write_units: float = Field(
        default=1.0,
        ge=0,
        description="Write units per second for loading scenarios into DynamoDB; 0 is unlimited.",
    )
