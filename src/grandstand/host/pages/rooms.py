"""Kept here: the house's own pages, in the order their addresses are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grandstand.host.pages.account import AccountPages
from grandstand.host.pages.demo import DemoPages
from grandstand.host.pages.finding import FindingPages
from grandstand.host.pages.home import DoorPages, HomePages
from grandstand.host.pages.parts import PartsPages
from grandstand.host.pages.scoreboard import ScoreboardPages
from grandstand.host.pages.status import StatusPages

if TYPE_CHECKING:
    from grandstand.host.house import House


def rooms_of(house: House) -> tuple[object, ...]:
    """Answer what `router_of` makes routes of; the doors come after every application's pages."""
    return (
        HomePages(house),
        FindingPages(house),
        ScoreboardPages(house),
        StatusPages(house),
        AccountPages(house),
        DemoPages(house),
        PartsPages(house.pages, house.hub, house.clock),
        DoorPages(house),
    )
