"""Kept here: what every command of keiba begins with: opening the service, options, dates."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime
from typing import Annotated, Final, Literal, TypeVar

import typer

from grandstand.apps.keiba.service import JST, Keiba
from grandstand.base.errors import InvalidInput

T = TypeVar("T")
Opened = Callable[[], AbstractAsyncContextManager[Keiba]]

_FORMS: Final = ("%Y%m%d", "%Y-%m-%d")

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Anew = Annotated[bool, typer.Option("--anew", help="Fetch again what is kept, if not very new.")]
Only = Annotated[
    Literal["jra", "nar"] | None, typer.Option("--circuit", help="National or local tracks alone.")
]


def with_keiba(opened: Opened, act: Callable[[Keiba], Awaitable[T]]) -> T:
    """Open the service, have something done, and close it."""

    async def done() -> T:
        async with opened() as keiba:
            return await act(keiba)

    return asyncio.run(done())


def day_of(written: str) -> date:
    """Answer a date written as 20261115 or 2026-11-15; raise InvalidInput."""
    for form in _FORMS:
        try:
            return datetime.strptime(written, form).replace(tzinfo=JST).date()
        except ValueError:
            continue
    raise InvalidInput(f"{written!r} is no date: write it as 20261115")
