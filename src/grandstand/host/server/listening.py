"""Kept here: taking a port, and what is said when it cannot be had."""

from __future__ import annotations

import errno
import socket
from typing import Final

from grandstand.base.errors import Conflict, InvalidInput

LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 1024


class PortTaken(Conflict):
    """Another program listens there already."""


class AddressUnusable(InvalidInput):
    """This machine has no such address, or may not listen there."""


def address_of(host: str, port: int) -> str:
    """Answer the URL of a port of ours."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Take a port before anything else is begun; 0 takes any free one.

    Raises PortTaken or AddressUnusable, saying what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # Whoever is let in inherits it. Without it a body waits for the head to be acknowledged,
        # which takes 40 ms; asyncio asks for it only of sockets that name their protocol.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as fault:
        if fault.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"Port {port} of {host} is taken: stop the program that listens there, or choose "
                "another port (0 takes any free one)"
            ) from fault
        raise AddressUnusable(
            f"Cannot listen on {host} port {port}: {fault.strerror or fault}"
        ) from fault
