"""Kept here: what every section of the settings is: frozen, and refusing names it does not know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One part of the settings; each field has its help as description."""

    model_config = ConfigDict(frozen=True, extra="forbid")
