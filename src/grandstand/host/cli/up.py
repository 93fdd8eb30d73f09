"""`grandstand up`, `serve`, `worker` and `demo`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from socket import socket
from typing import Annotated

import typer

from grandstand.host.cli.accounts import Yes, confirm
from grandstand.host.cli.output import AsJson, logs_as_json, to_json, write_logs
from grandstand.host.demo.sources import demo_enabled, simulated_folder, source_connections
from grandstand.host.demo.world import open_demo
from grandstand.host.demo.world_state import wipe as wipe_simulated
from grandstand.host.memory import tune_malloc
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application, monitoring_routes
from grandstand.host.server.serving import (
    ConnectionLimits,
    bind,
    loop_factory,
    make_server,
    raise_file_limit,
    serve_until_stopped,
    url_of,
    wait_for_signal,
)
from grandstand.host.settings import Settings, read_settings
from grandstand.kit.auth.host_policy import check_binding

Host = Annotated[str | None, typer.Option(help="The address; server.host by default.")]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="The port; server.port by default, 0 means any free port."),
]
OwnPort = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Serve /health and /metrics on this port."),
]


def up(host: Host = None, port: Port = None) -> None:
    """Start the server and the jobs."""
    _serve(read_settings(), host, port, jobs=True)


def serve(host: Host = None, port: Port = None) -> None:
    """Start only the server."""
    _serve(read_settings(), host, port, jobs=False)


def worker(host: Host = None, port: OwnPort = None) -> None:
    """Run only the jobs; with --port, serve /health and /metrics."""
    settings = read_settings()
    write_logs(settings)
    if port is None:
        _run(_run_jobs(settings, None))
        return
    with bind(host or settings.server.host, port) as listening:
        _run(_run_jobs(settings, listening))


def _serve(settings: Settings, host: str | None, port: int | None, *, jobs: bool) -> None:
    address = host or settings.server.host
    number = settings.server.port if port is None else port
    write_logs(settings)
    with bind(address, number) as listening:
        _run(_serve_app(settings, address, listening, jobs=jobs))
    typer.echo("stopped", err=True)


async def _serve_app(settings: Settings, address: str, listening: socket, *, jobs: bool) -> None:
    async with AsyncExitStack() as stack:
        demo = await stack.enter_async_context(open_demo(settings))
        platform = await stack.enter_async_context(Platform.open(settings, host=address, demo=demo))
        check_binding(
            address,
            accounts=await platform.people.any(),
            tokens=bool(settings.auth.issuer),
            published=settings.server.published,
        )
        write = sys.stderr.write if settings.log.level in ("debug", "info") else None
        app, _ = build_application(platform, write=write, json=logs_as_json(settings.log))
        background = (
            await stack.enter_async_context(platform.background.running()) if jobs else None
        )
        _announce(listening, "Grandstand is running at")
        simulated = [one.source for one in source_connections(settings) if one.simulated]
        if simulated:
            names = ", ".join(f"{source.app} ({source.name})" for source in simulated)
            typer.echo(f"Simulated: {names}.", err=True)
            typer.echo("`grandstand demo status` shows how to connect real sources.", err=True)
        server = make_server(
            app,
            behind_proxy=settings.server.published,
            trusted_proxies=settings.server.trusted_proxies,
            limits=_connection_limits(settings),
        )
        await serve_until_stopped(server, listening, platform.hub.close, background)


async def _run_jobs(settings: Settings, listening: socket | None) -> None:
    async with (
        open_demo(settings) as demo,
        Platform.open(settings, demo=demo) as platform,
        platform.background.running() as background,
    ):
        if listening is None:
            typer.echo("Jobs are running. Press Ctrl-C to stop.", err=True)
            await wait_for_signal(background)
            return
        app, _ = build_application(platform, routes=monitoring_routes)
        _announce(listening, "Jobs are running; monitoring at")
        server = make_server(app, limits=_connection_limits(settings))
        await serve_until_stopped(server, listening, platform.hub.close, background)


def _connection_limits(settings: Settings) -> ConnectionLimits:
    server = settings.server
    return ConnectionLimits(
        header_bytes=server.header_bytes,
        header_seconds=server.header_seconds,
        connections=server.connections,
        connections_per_address=server.connections_per_address,
    )


def _announce(listening: socket, text: str) -> None:
    address, port = listening.getsockname()[:2]
    typer.echo(f"{text} {url_of(address, port)}. Press Ctrl-C to stop.", err=True)


def _run(work: Coroutine[None, None, None]) -> None:
    tune_malloc()
    raise_file_limit()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        # Each thread has its own connection to every store; by default there would be four threads
        # more than cores.
        runner.get_loop().set_default_executor(ThreadPoolExecutor(6))
        runner.run(work)


demo = typer.Typer(help="Manage the simulated sources.", no_args_is_help=True)


@demo.command()
def status(*, as_json: AsJson = False) -> None:
    """Show which sources are simulated, and how to connect the real ones."""
    settings = read_settings()
    found = source_connections(settings)
    if as_json:
        sources = [
            {"source": one.source.name, "app": one.source.app, "state": one.word}
            | {"title": one.source.title, "how": one.source.how}
            for one in found
        ]
        typer.echo(to_json({"enabled": demo_enabled(settings), "sources": sources}))
        return
    # Lines are not wrapped, so that names can be copied.
    for one in found:
        source = one.source
        typer.echo(f"{source.app:<10}{one.word:<15}{source.title}")
        if not one.connected:
            typer.echo(f"{'':<25}to connect it, {source.how}")
    folder = simulated_folder(settings)
    if folder.exists():
        typer.echo(f"Simulated data is in {folder}; `grandstand demo wipe` deletes it.")
    if not demo_enabled(settings):
        typer.echo("Nothing is simulated. Set GRANDSTAND_DEMO_PLAY=on to enable the demo.")


@demo.command()
def wipe(*, yes: Yes = False) -> None:
    """Delete all simulated data; real data is not touched."""
    settings = read_settings()
    folder = simulated_folder(settings)
    if not folder.exists():
        typer.echo("No simulated data.")
        return
    confirm(f"Delete all simulated data in {folder}?", yes=yes)
    wipe_simulated(settings)
    typer.echo(f"removed {folder}")
