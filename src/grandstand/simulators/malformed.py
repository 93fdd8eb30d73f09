"""Malformed replies on request: which kind, for which paths, and how often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

W = TypeVar("W", bound=str)


class MalformedReply(msgspec.Struct, Generic[W], frozen=True, forbid_unknown_fields=True):
    """One kind of malformed reply for paths with a prefix; `times` None is unlimited."""

    wrong: W
    path: str = "/"
    times: int | None = None


@dataclass
class MalformedReplies(Generic[W]):
    """The malformed replies requested at present."""

    requested: list[MalformedReply[W]] = field(default_factory=list)
    _left: dict[int, int] = field(default_factory=dict)

    def ask_for(self, *replies: MalformedReply[W]) -> None:
        """Replace the requested malformed replies."""
        self.requested = [*replies]
        self._left = {at: each.times for at, each in enumerate(replies) if each.times is not None}

    def strike(self, path: str) -> W | None:
        """Return the kind of malformed reply for this request, or None."""
        for at, reply in enumerate(self.requested):
            if path.startswith(reply.path) and self._left.get(at) != 0:
                if at in self._left:
                    self._left[at] -= 1
                return reply.wrong
        return None
