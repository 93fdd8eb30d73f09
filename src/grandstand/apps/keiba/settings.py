"""Settings of the keiba app."""

from __future__ import annotations

import ipaddress
from typing import Final, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from grandstand.kit.settings import Section

SITE_TERMS: Final = (
    "Pages of netkeiba are for personal use and must not be redistributed. Terms: "
    "https://www.netkeiba.com/info/kiyaku.html."
)


class KeibaSettings(Section):
    """The race site, request limits, cache times, previews and watched horses."""

    ask_site: bool = Field(
        default=False,
        description=(
            "Use the real race site. Otherwise it is simulated, unless demo.play is off or one of "
            "the URLs below is changed."
        ),
    )
    race_url: str = Field(
        default="https://race.netkeiba.com", description="Base URL of JRA cards and results."
    )
    nar_url: str = Field(
        default="https://nar.netkeiba.com", description="Base URL of NAR cards and results."
    )
    db_url: str = Field(
        default="https://db.netkeiba.com", description="Base URL of horses and jockeys."
    )
    agent: str = Field(
        default="grandstand/0.1 (personal racing notebook; one page every two seconds)",
        min_length=3,
        description="User agent; the part before the slash is matched against robots.txt.",
    )
    gap_seconds: float = Field(
        default=2.0,
        ge=0,
        le=600,
        description=(
            "Minimum seconds between two requests to a host; at least 1, except for localhost."
        ),
    )
    jitter_seconds: float = Field(
        default=1.0, ge=0, le=600, description="Maximum random seconds added to each gap."
    )
    daily_requests: int = Field(
        default=2000, ge=1, description="Maximum requests per host and day (UTC)."
    )
    timeout_seconds: float = Field(default=10.0, gt=0, description="Request timeout in seconds.")
    tries: int = Field(default=3, ge=1, le=5, description="Maximum attempts per request.")
    queue_seconds: float = Field(
        default=900.0, gt=0, description="Maximum seconds a request waits in the queue."
    )
    pause_seconds: float = Field(
        default=900.0,
        ge=60,
        description="Cooldown of a host after it blocked us; doubled each time.",
    )

    stale_while_revalidate_seconds: float = Field(
        default=0.0,
        ge=0,
        description="How long a stale page is shown while it is refreshed; 0 disables it.",
    )
    stale_on_error_seconds: float = Field(
        default=0.0,
        ge=0,
        description="How long a stale page is shown if the site fails; 0 disables it.",
    )
    odds_seconds: float = Field(
        default=60.0, ge=10, description="Cache time of odds that are not final."
    )
    unconfirmed_seconds: float = Field(
        default=180.0, ge=10, description="Cache time of unconfirmed results."
    )
    partial_seconds: float = Field(
        default=3600.0,
        ge=60,
        description="Cache time of pages that are incomplete or were parsed with warnings.",
    )
    missing_seconds: float = Field(default=300.0, ge=10, description="Cache time of missing pages.")
    refresh_seconds: float = Field(
        default=60.0, ge=10, description="Minimum age of a page before it can be refreshed."
    )
    concurrent_pages: int = Field(
        default=4, ge=1, le=32, description="Maximum pages of cards awaited at once."
    )
    preview_input_tokens: int = Field(
        default=250_000, ge=1000, description="Maximum input tokens of a preview."
    )
    preview_output_tokens: int = Field(
        default=8000, ge=500, description="Maximum output tokens of a preview."
    )
    watch_days: int = Field(
        default=3, ge=0, le=14, description="How many days ahead to look for watched horses."
    )
    watch_fetches: bool = Field(
        default=True,
        description="Fetch upcoming JRA cards while anybody watches a horse.",
    )
    result_fetches: bool = Field(
        default=True,
        description="Fetch results of today's races whose cards were viewed.",
    )

    @model_validator(mode="after")
    def _check_gap(self) -> Self:
        remote = [url for url in (self.race_url, self.nar_url, self.db_url) if not is_loopback(url)]
        if self.gap_seconds < 1 and remote:
            raise ValueError(f"gap_seconds must be at least 1 for {remote[0]}.")
        return self


def is_loopback(url: str) -> bool:
    """Return whether a URL is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
