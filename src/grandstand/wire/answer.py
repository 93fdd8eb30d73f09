"""Kept here: what a source answered, read no further than we are ready to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import httpx2
import msgspec

from grandstand.wire.errors import AnswerGarbled, AnswerTooLarge, told

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, headers by their lower-case names, and the whole body, unpacked.

    `secrets` are those of the request, which a source may repeat and no text may show.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    source: str = ""
    version: str = "HTTP/1.1"
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def json(self, kind: type[T]) -> T:
        """Answer the body as a value of a type; raise AnswerGarbled when it is none."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{self.source} answered {len(self.body)} bytes that cannot be used: {error}"
            cause = told(error)
        raise AnswerGarbled(message, source=self.source) from cause


async def read_answer(
    response: httpx2.Response, source: str, most_bytes: int, secrets: tuple[str, ...] = ()
) -> Answer:
    """Read a whole answer; raise AnswerTooLarge as soon as it passes the limit.

    Packed bodies are unpacked in pieces of 1 MiB, so that a small one cannot fill the memory.
    """
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most_bytes:
        raise _too_large(source, most_bytes)
    kept = bytearray()
    async for piece in response.aiter_bytes():
        kept += piece
        if max(len(kept), response.num_bytes_downloaded) > most_bytes:
            raise _too_large(source, most_bytes)
    headers = {name.lower(): value for name, value in response.headers.items()}
    version = response.http_version
    return Answer(response.status_code, headers, bytes(kept), source, version, secrets)


def _too_large(source: str, most_bytes: int) -> AnswerTooLarge:
    message = (
        f"{source} answered more than {most_bytes} bytes: ask for less, or raise most_bytes of "
        "this source"
    )
    return AnswerTooLarge(message, source=source)
