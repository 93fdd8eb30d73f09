"""Kept here: what the settings choose, as the values the model works with."""

from __future__ import annotations

from datetime import timedelta

from grandstand.apps.cricket.model.events.thresholds import Thresholds
from grandstand.apps.cricket.model.sessions import Lifetimes
from grandstand.apps.cricket.settings import CricketSettings


def thresholds_from(settings: CricketSettings) -> Thresholds:
    """Answer what counts as an event by the settings."""
    return Thresholds(
        fifty=settings.fifty,
        nineties=settings.nineties,
        hundreds=tuple(sorted(settings.hundreds)),
        wickets=tuple(sorted(settings.wickets)),
        alerting_wickets=settings.alerting_wickets,
        sixes_in_a_row=settings.sixes_in_a_row,
        fire_balls=settings.fire_balls,
        fire_rate=settings.fire_rate,
        fire_runs=settings.fire_runs,
        fire_window=settings.fire_window,
        cooldown_seconds={
            "six": settings.boundary_cooldown_seconds,
            "four": settings.boundary_cooldown_seconds,
            "consecutive_sixes": settings.sixes_cooldown_seconds,
            "on_hattrick": settings.hattrick_cooldown_seconds,
            "rain_delay": settings.rain_cooldown_seconds,
            "play_resumed": settings.rain_cooldown_seconds,
            "batsman_on_fire": settings.fire_cooldown_seconds,
        },
    )


def lifetimes_from(settings: CricketSettings) -> Lifetimes:
    """Answer how long things last by the settings."""
    restart, usual = timedelta(minutes=settings.restart_minutes), Lifetimes()
    return Lifetimes(
        restart_gap=timedelta(seconds=settings.start_again_seconds),
        restart_after=restart,
        restart_in_breaks_after=min(restart, usual.restart_in_breaks_after),
        stale_live=timedelta(minutes=settings.stale_minutes),
        stale_break=timedelta(minutes=settings.stale_break_minutes),
        dismiss_after=timedelta(minutes=settings.dismiss_minutes),
    )
