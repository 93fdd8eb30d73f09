"""Kept here: what every group of the gatherer's pages is made with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from starlette.datastructures import FormData

from grandstand.apps.gatherer.service import Gatherer
from grandstand.kit.pages import shown
from grandstand.kit.pages.part import AppPages
from grandstand.kit.pages.rendering import Pages

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_CENT: Final = Decimal(1000)
_CONTRACT: Final = Decimal(100)


class PagesPart(AppPages):
    """Some pages: what they show comes from the gatherer, how it looks from the templates."""

    def __init__(self, gatherer: Gatherer, pages: Pages) -> None:
        super().__init__(pages, "gatherer", {})
        self._gatherer = gatherer


def text_in(form: FormData, name: str) -> str:
    """Answer the text of a field, empty when it was not sent."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def moment(at_us: int | None) -> datetime | None:
    """Answer microseconds since 1970 as a moment; None where there is none."""
    return None if not at_us else EPOCH + timedelta(microseconds=at_us)


def microseconds(when: datetime) -> int:
    """Answer a moment in microseconds since 1970."""
    return (when - EPOCH) // _MICROSECOND


def cents(price: int) -> Decimal:
    """Answer a price in cents, without needless noughts."""
    return _plain(Decimal(price) / _CENT)


def contracts(size: int) -> Decimal:
    """Answer a size in contracts, without needless noughts."""
    return _plain(Decimal(size) / _CONTRACT)


def cents_text(price: int | None) -> str:
    """Write a price in cents."""
    return shown.NOTHING if price is None else f"{cents(price)}\u00a0¢"


def _plain(value: Decimal) -> Decimal:
    return Decimal(f"{value.normalize():f}")
