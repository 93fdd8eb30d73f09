"""Kept here: what can be chosen about keiba: the race site, its pages, and what is made of them."""

from __future__ import annotations

import ipaddress
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from grandstand.kit.settings import Section


class KeibaSettings(Section):
    """Keiba: the race site, how gently it is asked, how long pages are kept, previews."""

    ask_site: bool = Field(
        default=False,
        description=(
            "Say yes to ask the real race site; until then it is simulated, unless demo.play is "
            "off or an address below is another one."
        ),
    )
    race_url: str = Field(
        default="https://race.netkeiba.com", description="Where national cards and results are."
    )
    nar_url: str = Field(
        default="https://nar.netkeiba.com", description="Where local cards and results are."
    )
    db_url: str = Field(
        default="https://db.netkeiba.com", description="Where horses and jockeys are."
    )
    agent: str = Field(
        default="grandstand/0.1 (personal racing notebook; one page every two seconds)",
        min_length=3,
        description="Who we say we are; the part before the slash is looked for in robots.txt.",
    )
    gap_seconds: float = Field(
        default=2.0,
        ge=0,
        le=600,
        description=(
            "Seconds between two requests to one host; at least 1, except to this machine itself."
        ),
    )
    jitter_seconds: float = Field(
        default=1.0, ge=0, le=600, description="Up to so many seconds are added to each gap."
    )
    daily_requests: int = Field(
        default=2000, ge=1, description="How often one host is asked in a day (UTC) at most."
    )
    timeout_seconds: float = Field(default=10.0, gt=0, description="How long one answer may take.")
    tries: int = Field(
        default=3, ge=1, le=5, description="How often a request that fails is sent in all."
    )
    queue_seconds: float = Field(
        default=900.0, gt=0, description="How long a request may wait for its turn."
    )
    pause_seconds: float = Field(
        default=900.0,
        ge=60,
        description="How long a host is left alone after it turned us away; doubled each time.",
    )

    stale_while_revalidate_seconds: float = Field(
        default=0.0,
        ge=0,
        description="How long past its time a page is shown while it is fetched anew; 0: never.",
    )
    stale_on_error_seconds: float = Field(
        default=0.0,
        ge=0,
        description="How long past its time a page is shown when the site fails; 0: never.",
    )
    odds_seconds: float = Field(
        default=60.0, ge=10, description="How long odds are kept that are not final."
    )
    unconfirmed_seconds: float = Field(
        default=180.0, ge=10, description="How long a result is kept that is not confirmed."
    )
    partial_seconds: float = Field(
        default=3600.0,
        ge=60,
        description="How long a page is kept of which something could not be read or is to come.",
    )
    missing_seconds: float = Field(
        default=300.0, ge=10, description="How long is remembered that the site has no such page."
    )
    refresh_seconds: float = Field(
        default=60.0, ge=10, description="How old a page must be to be fetched again on request."
    )
    gather_at_once: int = Field(
        default=4, ge=1, le=32, description="How many pages of cards are waited for at once."
    )
    preview_input_tokens: int = Field(
        default=250_000, ge=1000, description="How long the material of a preview may be."
    )
    preview_output_tokens: int = Field(
        default=8000, ge=500, description="How long a written preview may be."
    )
    watch_days: int = Field(
        default=3, ge=0, le=14, description="How many days ahead watched horses are looked for."
    )
    watch_fetches: bool = Field(
        default=True,
        description="Whether the coming national cards are fetched while anybody watches a horse.",
    )
    result_fetches: bool = Field(
        default=True,
        description="Whether the results of today's races are fetched whose cards are kept.",
    )

    @model_validator(mode="after")
    def _gentle(self) -> Self:
        elsewhere = [
            url for url in (self.race_url, self.nar_url, self.db_url) if not is_this_machine(url)
        ]
        if self.gap_seconds < 1 and elsewhere:
            message = f"a gap below 1 s is not for {elsewhere[0]}: set gap_seconds to 1 or more"
            raise ValueError(message)
        return self


def is_this_machine(url: str) -> bool:
    """Tell whether an address is of the machine this runs on."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
