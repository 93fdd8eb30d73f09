"""Kept here: `grandstand up`, `serve` and `worker`: what runs until it is stopped."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from socket import socket
from typing import Annotated, Final

import typer

from grandstand.host.cli.logs import as_json, write_logs
from grandstand.host.demo.sources import standings
from grandstand.host.demo.world import playing
from grandstand.host.house import House
from grandstand.host.server.application import application, monitored
from grandstand.host.server.listening import address_of, listen
from grandstand.host.server.serving import loop_factory, make_server, until_asked, until_stopped
from grandstand.host.settings import LogSettings, Settings, read_settings
from grandstand.host.thrift import be_thrifty
from grandstand.kit.who.policy import check_binding

_THREADS: Final = 6

Host = Annotated[
    str | None, typer.Option(help="Address to listen on; the setting server.host without it.")
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port; 0 takes any free one. The setting without it."),
]
OwnPort = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Answer monitors on this port; nowhere without it."),
]


def up(host: Host = None, port: Port = None) -> None:
    """Start everything: the server and the jobs."""
    _serve(read_settings(), host, port, jobs=True)


def serve(host: Host = None, port: Port = None) -> None:
    """Start the server alone."""
    _serve(read_settings(), host, port, jobs=False)


def worker(host: Host = None, port: OwnPort = None) -> None:
    """Run the jobs alone; with --port, answer /health and /metrics there."""
    settings = read_settings()
    write_logs(settings)
    if port is None:
        _run(_work(settings, None))
        return
    with listen(host or settings.server.host, port) as listening:
        _run(_work(settings, listening))


def _serve(settings: Settings, host: str | None, port: int | None, *, jobs: bool) -> None:
    address = host or settings.server.host
    number = settings.server.port if port is None else port
    write_logs(settings)
    with listen(address, number) as listening:
        _run(_answer(settings, address, listening, jobs=jobs))
    typer.echo("stopped", err=True)


async def _answer(settings: Settings, address: str, listening: socket, *, jobs: bool) -> None:
    async with AsyncExitStack() as open_:
        demo = await open_.enter_async_context(playing(settings))
        house = await open_.enter_async_context(House.open(settings, host=address, demo=demo))
        check_binding(address, accounts=await house.people.any(), tokens=bool(settings.auth.issuer))
        app, _ = application(house, write=_access(settings.log), json=as_json(settings.log))
        background = await open_.enter_async_context(house.background.running()) if jobs else None
        _say(listening, "Grandstand is on")
        _say_simulated(settings)

        server = make_server(app, behind_proxy=settings.server.https)
        await until_stopped(server, listening, house.hub.close, background)


async def _work(settings: Settings, listening: socket | None) -> None:
    async with (
        playing(settings) as demo,
        House.open(settings, demo=demo) as house,
        house.background.running() as background,
    ):
        if listening is None:
            typer.echo("The jobs run. Ctrl-C stops them.", err=True)
            await until_asked(background)
            return
        app, _ = application(house, routes=monitored)
        _say(listening, "The jobs run; monitors find them on")
        await until_stopped(make_server(app), listening, house.hub.close, background)


def _say(listening: socket, told: str) -> None:
    address, port = listening.getsockname()[:2]
    typer.echo(f"{told} {address_of(address, port)}. Ctrl-C stops it.", err=True)


def _say_simulated(settings: Settings) -> None:
    """Say which sources are played by stand-ins; nothing when none is."""
    played = [one.source for one in standings(settings) if one.simulated]
    if played:
        told = ", ".join(f"{one.app} ({one.name})" for one in played)
        typer.echo(f"Simulated: {told}.", err=True)
        typer.echo("`grandstand demo status` says how to connect the real sources.", err=True)


def _run(work: Coroutine[None, None, None]) -> None:
    be_thrifty()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        # Each thread has its own connection to every store: by itself there are four more of them
        # than the machine has cores.
        runner.get_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
        runner.run(work)


def _access(settings: LogSettings) -> Callable[[str], object] | None:
    return sys.stderr.write if settings.level in ("debug", "info") else None
