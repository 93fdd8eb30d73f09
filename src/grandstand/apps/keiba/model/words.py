"""Kept here: the closed sets of words that races are described with, in our spelling."""

from __future__ import annotations

from typing import Literal, TypeAlias

Surface: TypeAlias = Literal["turf", "dirt", "jump"]
Direction: TypeAlias = Literal["left", "right", "straight"]
Weather: TypeAlias = Literal["fine", "cloudy", "rainy", "drizzle", "snow", "light_snow"]

# The four words of Japanese racing, 良 稍重 重 不良, in the order from driest to wettest.
Going: TypeAlias = Literal["firm", "good", "yielding", "soft"]

Sex: TypeAlias = Literal["male", "female", "gelding"]
Circuit: TypeAlias = Literal["jra", "nar", "overseas"]

# 中止, 取消, 除外 and 失格: pulled up, withdrawn by its people, kept out by the stewards, put out.
Outcome: TypeAlias = Literal["finished", "stopped", "withdrawn", "excluded", "disqualified"]

Bet: TypeAlias = Literal[
    "win",
    "place",
    "bracket_quinella",
    "bracket_exacta",
    "quinella",
    "wide",
    "exacta",
    "trio",
    "trifecta",
]

# result, middle and yoso of the site: paid out by, selling now, guessed before selling.
OddsStatus: TypeAlias = Literal["final", "live", "forecast"]
