"""Kept here: the bookmakers: what each takes, how late and how far off it is, its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Book:
    """A bookmaker.

    `margin` is what its implied chances sum to above 1. Prices follow the news after `lag_minutes`
    and miss it by `noise` (in parts of the league's news). `home_bias` is what it adds to home, in
    the same parts; `longshot` above 1 makes long shots too short. Prices are multiples of `step`.
    """

    key: str
    title: str
    region: str
    margin: float
    lag_minutes: float
    noise: float
    home_bias: float
    longshot: float
    step: int
    limit_dollars: int


BOOKS: Final = (
    Book("pinnacle", "Pinnacle", "eu", 0.022, 0.0, 0.05, 0.0, 1.0, 1, 20_000),
    Book("fanduel", "FanDuel", "us", 0.045, 6.0, 0.12, 0.02, 1.0, 2, 5_000),
    Book("draftkings", "DraftKings", "us", 0.046, 8.0, 0.14, 0.02, 1.0, 1, 5_000),
    Book("betmgm", "BetMGM", "us", 0.050, 20.0, 0.20, 0.05, 1.02, 5, 2_000),
    Book("caesars", "Caesars", "us", 0.052, 25.0, 0.22, 0.05, 1.02, 5, 2_000),
    Book("fanatics", "Fanatics", "us", 0.055, 40.0, 0.26, 0.08, 1.03, 5, 1_000),
    Book("bovada", "Bovada", "us", 0.048, 30.0, 0.20, 0.0, 1.0, 5, 2_500),
    Book("betrivers", "BetRivers", "us", 0.058, 60.0, 0.30, 0.10, 1.04, 1, 750),
    Book("williamhill", "William Hill", "uk", 0.060, 45.0, 0.28, 0.06, 1.03, 1, 1_000),
    Book("unibet", "Unibet", "uk", 0.056, 90.0, 0.34, 0.12, 1.04, 1, 500),
)
