"""Kept here: the report of a day: how whole it was recorded, in one sentence that is sent out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from grandstand.apps.gatherer.model.coverage import Covered
from grandstand.apps.gatherer.service.coverage import Coverage
from grandstand.apps.gatherer.service.means import Means
from grandstand.kit.notify import Message

DAY_US: Final = 86_400_000_000
_APP: Final = "gatherer"
_KIND: Final = "report"
_HREF: Final = "/gatherer/coverage"
_MICRO: Final = 1_000_000
# So many parts of the whole are told apart.
_FINE: Final = 100_000


@dataclass(frozen=True, slots=True)
class Report:
    """What was to be recorded in a stretch of time, what was, and what was found out about it."""

    start_us: int
    end_us: int
    markets: int
    expected_us: int
    seen_us: int
    gaps: int
    healed: int
    audited: int
    differed: int

    @property
    def whole(self) -> bool:
        """Whether nothing is missing and no audit differed."""
        return self.seen_us == self.expected_us and not self.differed

    @property
    def seen(self) -> str:
        """The share that was seen, in percent, never rounded up to all of it."""
        if not self.expected_us:
            return "nothing"
        parts = self.seen_us * _FINE // self.expected_us
        return f"{parts // 1000}.{parts % 1000:03} %"

    def text(self) -> str:
        """Answer the report as a sentence."""
        told = f"{self.markets} markets, {self.seen} of their time seen"
        gaps = f"{self.gaps} gaps, {self.healed} healed"
        return f"{told}; {gaps}; {self.audited} books audited, {self.differed} differed"


def report(covered: Iterable[Covered], start_us: int, end_us: int) -> Report:
    """Add up what is known of markets and hours."""
    cells = tuple(covered)
    return Report(
        start_us=start_us,
        end_us=end_us,
        markets=len({cell.ticker for cell in cells}),
        expected_us=sum(cell.expected_us for cell in cells),
        seen_us=sum(cell.seen_us for cell in cells),
        gaps=sum(cell.gaps for cell in cells),
        healed=sum(cell.healed for cell in cells),
        audited=sum(cell.audited for cell in cells),
        differed=sum(cell.differed for cell in cells),
    )


class Reporting:
    """Reports whole days of UTC, and tells people of them."""

    def __init__(self, means: Means, coverage: Coverage) -> None:
        self._means = means
        self._coverage = coverage

    async def read(self, start_us: int, end_us: int) -> Report:
        """Answer the report of a stretch; raise Unavailable when the series do not answer."""
        return report(await self._coverage.read(start_us, end_us), start_us, end_us)

    async def tell_yesterday(self) -> Report | None:
        """Report the day before this one and tell it; None when nothing was to be recorded."""
        means = self._means
        end = means.now_us() // DAY_US * DAY_US
        found = await self.read(end - DAY_US, end)
        if not found.expected_us:
            return None
        day = datetime.fromtimestamp(found.start_us // _MICRO, UTC).date().isoformat()
        title = f"{day} was recorded {'whole' if found.whole else 'with gaps'}"
        message = Message(_APP, _KIND, title, found.text(), _HREF)
        await means.events.record(_APP, _KIND, f"{title}: {found.text()}", _HREF)
        await means.notifier.tell(message, f"{_APP}:{means.settings.name}:{_KIND}:{day}")
        return found
