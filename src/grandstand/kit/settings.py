"""Base class of the settings sections."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A section of the settings; each field's description is its help text."""

    model_config = ConfigDict(frozen=True, extra="forbid")
