"""The external sources of the apps: connected or not, and how to connect them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grandstand.host.settings import Settings
from grandstand.kit.settings import Section


@dataclass(frozen=True, slots=True)
class ExternalSource:
    """An external source of an app.

    An app whose `main` source is not connected is simulated as a whole; its other sources are
    simulated with it.
    """

    name: str
    app: str
    title: str
    how: str
    connected: Callable[[Settings], bool]
    main: bool = True


@dataclass(frozen=True, slots=True)
class SourceConnection:
    """The state of a source by the settings: connected, simulated or neither."""

    source: ExternalSource
    connected: bool
    simulated: bool

    @property
    def word(self) -> str:
        """The state in a word or two."""
        return "connected" if self.connected else "simulated" if self.simulated else "not connected"


def _changed(section: Section, *names: str) -> bool:
    """Return whether any of these settings differs from its default."""
    fields = type(section).model_fields
    return any(getattr(section, name) != fields[name].default for name in names)


def _is_set(secret: Any) -> bool:  # noqa: ANN401 - a secret or None
    return secret is not None and bool(secret.get_secret_value())


SOURCES: Final = (
    ExternalSource(
        "odds",
        "bets",
        "Bookmakers' odds and scores (The Odds API)",
        "set GRANDSTAND_BETS_ODDS_KEY to a key of the-odds-api.com",
        lambda s: _is_set(s.bets.odds_key) or _changed(s.bets, "odds_url"),
    ),
    ExternalSource(
        "exchange",
        "gatherer",
        "The prediction market (Kalshi)",
        "set GRANDSTAND_GATHERER_KEY_ID and GRANDSTAND_GATHERER_PRIVATE_KEY_FILE to an API key",
        lambda s: (
            bool(s.gatherer.key_id)
            or _is_set(s.gatherer.private_key)
            or _changed(s.gatherer, "private_key_file", "rest_url", "stream_url")
        ),
    ),
    ExternalSource(
        "scores",
        "cricket",
        "Cricket scores (SportMonks)",
        "set GRANDSTAND_CRICKET_FEED_TOKEN to a token of SportMonks' cricket API",
        lambda s: _is_set(s.cricket.feed_token) or _changed(s.cricket, "feed_url"),
    ),
    ExternalSource(
        "push",
        "cricket",
        "Lock screens (Apple's push service)",
        "set GRANDSTAND_CRICKET_APNS_KEY, _APNS_KEY_ID, _APNS_TEAM_ID and _APNS_BUNDLE_ID",
        lambda s: _is_set(s.cricket.apns_key),
        main=False,
    ),
    ExternalSource(
        "races",
        "keiba",
        "Races in Japan (netkeiba)",
        "set GRANDSTAND_KEIBA_ASK_SITE=true",
        lambda s: s.keiba.ask_site or _changed(s.keiba, "race_url", "nar_url", "db_url"),
    ),
)


def demo_enabled(settings: Settings) -> bool:
    """Return whether sources that are not connected are simulated."""
    if settings.demo.play != "auto":
        return settings.demo.play == "on"
    tables_here = settings.tables.partition(":")[0] == "sqlite"
    return tables_here and settings.series.get_secret_value() == "chunks"


def simulated_apps(settings: Settings) -> frozenset[str]:
    """Return the names of simulated apps."""
    if not demo_enabled(settings):
        return frozenset()
    return frozenset(one.app for one in SOURCES if one.main and not one.connected(settings))


def source_connections(settings: Settings) -> tuple[SourceConnection, ...]:
    """Return the state of every source, grouped by app."""
    simulated = simulated_apps(settings)
    return tuple(
        SourceConnection(
            one,
            connected=one.app not in simulated and one.connected(settings),
            simulated=one.app in simulated,
        )
        for one in SOURCES
    )


def how_to_connect(app: str) -> str:
    """Return a line on how to connect an app's real source; empty if it needs none."""
    return next((one.how for one in SOURCES if one.app == app and one.main), "")


def simulated_folder(settings: Settings) -> Path:
    """Return the folder of simulated data."""
    return settings.home / "simulated"
