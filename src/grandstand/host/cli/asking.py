"""Kept here: what the commands about people share: the people, passwords and second thoughts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from random import SystemRandom
from typing import TypeVar

import typer

from grandstand.base.clock import SystemClock
from grandstand.base.errors import InvalidInput
from grandstand.host.opening import open_store
from grandstand.host.settings import read_settings
from grandstand.kit.who.people import People
from grandstand.kit.who.tables import WHO_TABLES
from grandstand.storage.tables.store import AsyncStore

R = TypeVar("R")

_LONGEST_LINE = 4_096


def with_people(act: Callable[[People], Awaitable[R]]) -> R:
    """Do something with the people of the settings' store; the tables are made if need be."""
    clock = SystemClock()

    async def done() -> R:
        return await act(People(AsyncStore(store), clock=clock, random=SystemRandom()))

    with open_store(read_settings(), clock) as store:
        store.create(WHO_TABLES)
        return asyncio.run(done())


def asked_password(question: str) -> str:
    """Ask for a password twice without showing it, or take the first line of what is piped in.

    Raises InvalidInput when nothing is.
    """
    if sys.stdin.isatty():
        given = typer.prompt(question, hide_input=True, confirmation_prompt=True, err=True)
        return str(given)
    line = sys.stdin.readline(_LONGEST_LINE).rstrip("\r\n")
    if not line:
        message = "No password came: type it at a terminal, or pipe it in as one line"
        raise InvalidInput(message)
    return line


def confirmed(question: str, *, yes: bool) -> None:
    """Ask whether to go on, unless that was said before; stop when the answer is no.

    Raises InvalidInput when there is nobody to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        message = f"{question} Say so with --yes"
        raise InvalidInput(message)
    typer.confirm(question, abort=True, err=True)
