"""Kept here: which hosts, origins and addresses the house answers, told without asking anybody."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.base.errors import InvalidInput
from grandstand.kit.who.refused import Refused

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")

_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DNS: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^\[\]:/?#@\\\s,]+)(?::(?P<port>\d{1,5}))?")
_LONGEST: Final = 253
_OWN_SITE: Final = ("same-origin", "none")


@dataclass(frozen=True, slots=True)
class Place:
    """A host as a browser names it: a name or a literal address, and a port when one is given."""

    name: str
    port: int | None = None
    literal: bool = False


def parse_place(text: str) -> Place | None:
    """Read `name`, `name:port`, `1.2.3.4:port` or `[::1]:port`; None when it is none of these."""
    form = _HOST.fullmatch(text) if text.isascii() else None
    if form is None:
        return None
    port = None if form["port"] is None else int(form["port"])
    if port is not None and not 0 < port <= 65_535:  # noqa: PLR2004 - the last port
        return None
    name = form["name"].casefold()
    address = _address(name.strip("[]"))
    if address is not None and (address.version == 6) == name.startswith("["):  # noqa: PLR2004
        return Place(str(address), port, literal=True)
    name = name.removesuffix(".")
    return Place(name, port) if len(name) <= _LONGEST and _DNS.fullmatch(name) else None


def is_loopback(host: str) -> bool:
    """Tell whether an address or name can only mean this machine."""
    name = host.casefold().strip("[]").removesuffix(".")
    address = _address(name)
    if address is None:
        return name == "localhost" or name.endswith(".localhost")
    return address.is_loopback


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def check_binding(host: str, *, accounts: bool, tokens: bool) -> None:
    """Raise InvalidInput when the house would stand open to other machines."""
    if is_loopback(host) or accounts or tokens:
        return
    message = (
        f"{host} can be reached from other machines, and there is no account yet: make one with "
        "grandstand user add NAME --admin, or stay on 127.0.0.1"
    )
    raise InvalidInput(message)


@dataclass(frozen=True, slots=True)
class Policy:
    """Which names the house answers to, and from which origins it may be changed.

    `literals` lets any literal address in: a page cannot rebind an address, only a name. `secure`
    says that browsers reach it by https.
    """

    hosts: frozenset[Place]
    origins: frozenset[str] = frozenset()
    literals: bool = False
    secure: bool = False

    @classmethod
    def bound_to(
        cls,
        host: str,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        secure: bool = False,
    ) -> Policy:
        """Answer the policy of a server on an address, also known by more hosts.

        Raises InvalidInput for what is no host or no origin.
        """
        known = {_known(name) for name in (*hosts, host if ":" not in host else f"[{host}]")}
        address = _address(host)
        return cls(
            hosts=frozenset(known),
            origins=frozenset(_known_origin(origin) for origin in origins),
            literals=address is not None and address.is_unspecified,
            secure=secure,
        )

    def refuses_host(self, given: Sequence[str]) -> Refused | None:
        """Answer why a request's Host headers are refused; None when they are not."""
        place = parse_place(given[0]) if len(given) == 1 else None
        if place is None:
            return Refused("The request does not say properly which host it is for")
        if is_loopback(place.name) or (self.literals and place.literal):
            return None
        if place in self.hosts or Place(place.name, None, place.literal) in self.hosts:
            return None
        return Refused("This house does not answer to that host name; see the setting for hosts")

    def refuses_origin(
        self, method: str, headers: Mapping[str, str], *, socket: bool = False
    ) -> Refused | None:
        """Answer why a change, or a socket, asked for by another site's page is refused.

        Programs that are no browsers send none of the headers looked at, and are not refused.
        """
        if method.upper() in SAFE_METHODS and not socket:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.casefold() in self.origins:
            return None
        if headers.get("sec-fetch-site", "none") not in _OWN_SITE:
            return Refused("Another site's page asked for this")
        told = origin if origin is not None else _origin_of(headers.get("referer"))
        if told is None or self._own(told, headers.get("host", "")):
            return None
        return Refused("Another site's page asked for this")

    def _own(self, origin: str, host: str) -> bool:
        scheme, _, rest = origin.partition("://")
        theirs, ours = parse_place(rest), parse_place(host)
        if theirs is None or ours is None or scheme not in _PORTS:
            return False
        if self.secure and scheme != "https":
            return False
        usual = _PORTS[scheme]
        return (theirs.name, theirs.port or usual) == (ours.name, ours.port or usual)


def _known(name: str) -> Place:
    place = parse_place(name)
    if place is None:
        message = f"{name!r} is no host: write example.org, example.org:8443 or [2001:db8::1]"
        raise InvalidInput(message)
    return place


def _known_origin(origin: str) -> str:
    scheme, _, rest = origin.casefold().partition("://")
    if scheme not in _PORTS or parse_place(rest) is None:
        message = f"{origin!r} is no origin: write https://example.org, without a path"
        raise InvalidInput(message)
    return origin.casefold()


def _origin_of(referer: str | None) -> str | None:
    if referer is None:
        return None
    scheme, _, rest = referer.partition("://")
    return f"{scheme}://{re.split('[/?#]', rest, maxsplit=1)[0]}"
