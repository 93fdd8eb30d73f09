"""Kept here: all pages of cricket, put together from their parts."""

from __future__ import annotations

from grandstand.apps.cricket.pages.connecting import ConnectPages
from grandstand.apps.cricket.pages.hub import HubPages
from grandstand.apps.cricket.pages.lists import ListPages
from grandstand.apps.cricket.pages.match import MatchPages
from grandstand.apps.cricket.pages.mine import MinePages


class CricketPages(ConnectPages, HubPages, MinePages, MatchPages, ListPages):
    """Matches, one match, what is one's own, how to connect an app, and the hub."""
