"""Kept here: the house's own pages, in the order their addresses are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grandstand.host.pages.account import AccountPages
from grandstand.host.pages.home import DoorPages, HomePages
from grandstand.host.pages.parts import PartsPages
from grandstand.host.pages.status import StatusPages

if TYPE_CHECKING:
    from grandstand.host.house import House


def rooms_of(house: House) -> tuple[object, ...]:
    """Answer what `router_of` makes routes of; the doors come after every application's pages."""
    return (
        HomePages(house),
        StatusPages(house),
        AccountPages(house),
        PartsPages(house.pages, house.hub, house.clock),
        DoorPages(house),
    )
