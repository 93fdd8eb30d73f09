"""Kept here: what can be wrong with the feeds of odds and figures, and with files of them."""

from __future__ import annotations

from grandstand.base.errors import InvalidInput, LimitReached, NotAllowed, NotFound, SourceFailed


class OddsKeyMissing(NotAllowed):
    """There is no key to ask the odds feed with."""


class OddsKeyRefused(NotAllowed):
    """The odds feed does not know our key, or has closed its account."""


class CreditsShort(LimitReached):
    """A question would take more credits than may be spent; it was not asked."""

    retry = False


class OddsUnreadable(SourceFailed):
    """An answer of the odds feed is none."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"The odds feed's answer at {path} cannot be read: {why}")


class FiguresUnreadable(SourceFailed):
    """An answer of a site of figures is none."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"The figures at {path} cannot be read: {why}")


class FiguresUnknown(NotFound):
    """The site has no figures of that sport."""

    def __init__(self, sport: str) -> None:
        super().__init__(f"There are no figures of {sport}: leave it out, or bring them in files")


class FeedNameUnfit(InvalidInput):
    """A name cannot stand in an address of a feed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name[:60]!r} is no name of a sport or game: use letters, digits, _ and -"
        )


class FileUnfit(InvalidInput):
    """A file cannot be read at all; the message names the line where there is one."""

    def __init__(self, name: str, why: str, line: int | None = None) -> None:
        place = name if line is None else f"{name}, line {line},"
        super().__init__(f"{place} cannot be used: {why}")
        self.line = line
