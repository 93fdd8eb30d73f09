"""Kept here: what the service refuses.

InvalidInput   PreviewRefused PurgeRefused WatchRefused
NotFound       EntryNotFound
"""

from __future__ import annotations

from grandstand.base.errors import InvalidInput, NotFound


class PreviewRefused(InvalidInput):
    """This cannot be asked of a preview."""


class PurgeRefused(InvalidInput):
    """A purge needs to be told what is to go."""


class WatchRefused(InvalidInput):
    """This horse cannot be watched, or not with this note."""


class EntryNotFound(NotFound):
    """Nothing is kept under this key."""
