"""Kept here: what can go wrong in the stream, on request and repeatably, and what did."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, TypeAlias

import msgspec

CONTROL: Final = "/simulator/stream-faults"

StreamKind: TypeAlias = Literal[
    "drop", "duplicate", "reorder", "stall", "disconnect", "malformed", "error"
]
# An error with one of these codes ends a subscription; any other answers a command.
TERMINAL: Final = frozenset({10, 25})
_NEVER: Final = -1


class StreamFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that goes wrong with data frames, or with commands for most errors.

    `share` is the part of frames that are hit, `times` ends it, None never. `channel` limits it to
    the subscriptions of one. `seconds` is the length of a stall; `code` is that of an error, or
    of the close a disconnect ends with: 0 cuts the connection without a word.
    """

    kind: StreamKind
    share: float = 1.0
    times: int | None = None
    channel: str | None = None
    seconds: float = 1.0
    code: int = 0


class Struck(msgspec.Struct, frozen=True, array_like=True):
    """A fault that happened: what, on which connection, and to which frame."""

    kind: StreamKind
    connection: int
    sid: int
    seq: int
    type: str


@dataclass
class StreamFaults:
    """The faults asked for at present, and a list of those that struck."""

    random: Random
    rules: list[StreamFault] = field(default_factory=list)
    struck: list[Struck] = field(default_factory=list)
    _left: list[int] = field(default_factory=list)

    def ask_for(self, *rules: StreamFault) -> None:
        """Let these faults happen from now on, in place of those before."""
        self.rules = [*rules]
        self._left = [_NEVER if rule.times is None else rule.times for rule in rules]

    def on_frame(self, channel: str) -> StreamFault | None:
        """Answer the fault that hits a data frame now, None when all goes well."""
        for at, rule in enumerate(self.rules):
            for_commands = rule.kind == "error" and rule.code not in TERMINAL
            if not for_commands and rule.channel in {None, channel} and self._hits(at, rule):
                return rule
        return None

    def on_command(self) -> int | None:
        """Answer the code of the error a command gets now, None when all goes well."""
        for at, rule in enumerate(self.rules):
            if rule.kind == "error" and rule.code not in TERMINAL and self._hits(at, rule):
                return rule.code
        return None

    def _hits(self, at: int, rule: StreamFault) -> bool:
        if self._left[at] == 0 or self.random.random() >= rule.share:
            return False
        self._left[at] -= self._left[at] > 0
        return True

    def garbled(self, payload: bytes) -> bytes:
        """Answer something in place of a frame that no reader can use as it is."""
        half = payload[: len(payload) // 2]
        forms = (
            half,
            b"",
            b"[]",
            b"null",
            b'{"type":"orderbook_delta"}',
            payload.replace(b'_dollars":"0.', b'_dollars":"0.0000001'),
            payload.replace(b'"msg":{', b'"msg":[{', 1),
            payload.replace(b'_ticker":"', b'_ticker":7,"was":"', 1),
            b"\xe2\x98\x83" + half,
        )
        chosen = self.random.choice(forms)
        return half if chosen == payload else chosen
