"""Kept here: the demo's own jobs by name, and which of them have nothing to do."""

from __future__ import annotations

from typing import Final

from grandstand.host.demo.sources import simulated_apps
from grandstand.host.settings import Settings

# By the application whose stand-in they keep in motion.
OWN_JOBS: Final = {"bets": "demo.past", "cricket": "demo.phone", "keiba": "demo.races"}


def idle_jobs(settings: Settings) -> frozenset[str]:
    """Answer the jobs whose source is not simulated: the store may know them from before."""
    simulated = simulated_apps(settings)
    return frozenset(name for app, name in OWN_JOBS.items() if app not in simulated)
