"""Allowed Host and Origin headers, and addresses to bind to."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.caller import Refusal

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PROXY_HEADERS: Final = ("forwarded", "x-real-ip", "via")

_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DNS: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^\[\]:/?#@\\\s,]+)(?::(?P<port>\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class HostName:
    """A host as in the Host header: a name or a literal address, and an optional port."""

    name: str
    port: int | None = None
    literal: bool = False


def parse_host(text: str) -> HostName | None:
    """Parse `name`, `name:port`, `1.2.3.4:port` or `[::1]:port`; None if invalid."""
    form = _HOST.fullmatch(text) if text.isascii() else None
    if form is None:
        return None
    port = None if form["port"] is None else int(form["port"])
    if port is not None and not 0 < port <= 65_535:
        return None
    name = form["name"].casefold()
    address = _parse_address(name.strip("[]"))
    if address is not None and (address.version == 6) == name.startswith("["):
        return HostName(str(address), port, literal=True)
    name = name.removesuffix(".")
    return HostName(name, port) if len(name) <= 253 and _DNS.fullmatch(name) else None


def is_loopback(host: str) -> bool:
    """Return whether an address or name is loopback."""
    name = host.casefold().strip("[]").removesuffix(".")
    address = _parse_address(name)
    if address is None:
        return name == "localhost" or name.endswith(".localhost")
    return address.is_loopback


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_forwarded(headers: Iterable[str]) -> bool:
    """Return whether a proxy added one of these header names, which are in lower case.

    A proxy forwards the requests of others, also when it runs on this machine.
    """
    return any(name.startswith("x-forwarded-") or name in _PROXY_HEADERS for name in headers)


def check_binding(host: str, *, accounts: bool, tokens: bool, published: bool = False) -> None:
    """Raise InvalidInput if the server would be open to other machines without accounts.

    `published` means that the settings describe a server behind a proxy or with a name.
    """
    if accounts or tokens or (is_loopback(host) and not published):
        return
    if is_loopback(host):
        raise InvalidInput(
            "server.https, server.allowed_hosts or server.trusted_proxies is set, so other "
            "machines may reach this server, but there is no account. Add one with grandstand "
            "user add NAME --admin, or remove these settings."
        )
    raise InvalidInput(
        f"{host} can be reached from other machines, but there is no account. Add one with "
        "grandstand user add NAME --admin, or use 127.0.0.1."
    )


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The host names the server accepts, and the origins that may change data.

    `literals` allows any literal address: DNS rebinding needs a name. `secure` means that browsers
    use https.
    """

    hosts: frozenset[HostName]
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
    ) -> HostPolicy:
        """Return the policy of a server bound to an address, with further hosts.

        Raises InvalidInput for an invalid host or origin.
        """
        known = {_require_host(name) for name in (*hosts, host if ":" not in host else f"[{host}]")}
        address = _parse_address(host)
        return cls(
            hosts=frozenset(known),
            origins=frozenset(_parse_origin(origin) for origin in origins),
            literals=address is not None and address.is_unspecified,
            secure=secure,
        )

    def refuses_host(self, given: Sequence[str]) -> Refusal | None:
        """Return why the Host headers are refused; None if they are accepted."""
        place = parse_host(given[0]) if len(given) == 1 else None
        if place is None:
            return Refusal("The Host header is missing or invalid")
        if is_loopback(place.name) or (self.literals and place.literal):
            return None
        if place in self.hosts or HostName(place.name, None, place.literal) in self.hosts:
            return None
        return Refusal("Unknown host name. Add it to server.allowed_hosts.")

    def refuses_origin(
        self, method: str, headers: Mapping[str, str], *, socket: bool = False
    ) -> Refusal | None:
        """Return why a change or WebSocket requested by another site's page is refused.

        Clients other than browsers do not send these headers and are not refused.
        """
        if method.upper() in SAFE_METHODS and not socket:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.casefold() in self.origins:
            return None
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return Refusal("Cross-site requests are not allowed")
        if origin is None and "referer" in headers:
            scheme, _, rest = headers["referer"].partition("://")
            origin = f"{scheme}://{re.split('[/?#]', rest, maxsplit=1)[0]}"
        if origin is None or self._is_own(origin, headers.get("host", "")):
            return None
        return Refusal("Cross-site requests are not allowed")

    def _is_own(self, origin: str, host: str) -> bool:
        scheme, _, rest = origin.partition("://")
        theirs, ours = parse_host(rest), parse_host(host)
        if theirs is None or ours is None or scheme not in _PORTS:
            return False
        if self.secure and scheme != "https":
            return False
        usual = _PORTS[scheme]
        return (theirs.name, theirs.port or usual) == (ours.name, ours.port or usual)


def _require_host(name: str) -> HostName:
    place = parse_host(name)
    if place is None:
        raise InvalidInput(
            f"{name!r} is not a host. Use example.org, example.org:8443 or [2001:db8::1]."
        )
    return place


def _parse_origin(origin: str) -> str:
    scheme, _, rest = origin.casefold().partition("://")
    if scheme not in _PORTS or parse_host(rest) is None:
        raise InvalidInput(f"{origin!r} is not an origin. Use https://example.org, without a path.")
    return origin.casefold()
