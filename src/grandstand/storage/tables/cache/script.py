"""Kept here: the cache's work as a script of steps, carried out by waiting or by awaiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from grandstand.storage.tables.operations.single import Operation

if TYPE_CHECKING:
    from grandstand.storage.tables.store import AsyncStore, Store

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ask:
    """Carry an operation out on the store; the answer is sent back."""

    operation: Operation[Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Let some time pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fetch:
    """Ask the caller for the payload; what it answers is sent back."""


@dataclass(frozen=True, slots=True)
class Later:
    """Have a fresh payload fetched without waiting for it."""


Step: TypeAlias = Ask | Pause | Fetch | Later
Script: TypeAlias = Generator[Step, Any, R]


def play(
    script: Script[R], store: Store, fetch: Callable[[], object], later: Callable[[], object]
) -> R:
    """Carry a script out, waiting for each step."""
    answer: object = None
    fault: BaseException | None = None
    while True:
        try:
            step = script.send(answer) if fault is None else script.throw(fault)
        except StopIteration as end:
            done: R = end.value
            return done
        answer, fault = None, None
        try:
            match step:
                case Ask(operation):
                    answer = store(operation)
                case Pause(seconds):
                    store.session.clock.sleep(seconds)
                case Fetch():
                    answer = fetch()
                case Later():
                    later()
        except BaseException as raised:  # noqa: BLE001 - the script decides what becomes of it
            fault = raised


async def play_async(
    script: Script[R],
    store: AsyncStore,
    fetch: Callable[[], Awaitable[object]],
    later: Callable[[], object],
) -> R:
    """Carry a script out, awaiting each step."""
    answer: object = None
    fault: BaseException | None = None
    while True:
        try:
            step = script.send(answer) if fault is None else script.throw(fault)
        except StopIteration as end:
            done: R = end.value
            return done
        answer, fault = None, None
        try:
            match step:
                case Ask(operation):
                    answer = await store(operation)
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case Fetch():
                    answer = await fetch()
                case Later():
                    later()
        except BaseException as raised:  # noqa: BLE001 - as in play
            fault = raised
