"""Kept here: the channels alerts leave by, as settings name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from grandstand.base.errors import InvalidInput
from grandstand.base.log import remember
from grandstand.kit.who.policy import is_loopback

Security: TypeAlias = Literal["none", "starttls", "tls"]

_SECURITY: Final[dict[str, tuple[Security, int]]] = {
    "smtp": ("starttls", 587),
    "smtps": ("tls", 465),
    "smtp+plain": ("none", 25),
}


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that alerts are posted to; the address is a secret."""

    name: str
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail server, and who writes to whom through it."""

    name: str
    host: str
    port: int
    security: Security
    sender: str
    recipients: tuple[str, ...]
    user: str | None = None
    password: str | None = field(default=None, repr=False)


Channel: TypeAlias = Webhook | Mail


def read_channels(
    *,
    webhooks: Iterable[str] = (),
    smtp: str | None = None,
    mail_from: str = "",
    mail_to: tuple[str, ...] = (),
) -> tuple[Channel, ...]:
    """Answer the channels that settings name; raise InvalidInput when one makes no sense.

    `smtp` is smtp://USER:PASSWORD@HOST:587 (STARTTLS), smtps://… or, on this machine or without a
    password, smtp+plain://….
    """
    hooks: list[Channel] = [_webhook(url) for url in webhooks]
    return (*hooks, _mail(smtp, mail_from, mail_to)) if smtp else tuple(hooks)


def _webhook(url: str) -> Webhook:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        message = "A webhook is an address such as https://example.org/alerts"
        raise InvalidInput(message)
    # Whoever knows the path of a webhook can post to it.
    remember(parts.path.strip("/"), parts.query)
    return Webhook(f"webhook {parts.hostname} {sha256(url.encode()).hexdigest()[:8]}", url)


def _mail(smtp: str, mail_from: str, mail_to: tuple[str, ...]) -> Mail:
    parts = _split(smtp)
    if parts.scheme not in _SECURITY or not parts.hostname:
        message = "A mail server is smtp://USER:PASSWORD@HOST:587, smtps://… or smtp+plain://…"
        raise InvalidInput(message)
    if not mail_from or not mail_to:
        message = "Mail needs a sender and at least one receiver: set mail_from and mail_to too"
        raise InvalidInput(message)
    security, port = _SECURITY[parts.scheme]
    password = unquote(parts.password) if parts.password else None
    if security == "none" and password and not is_loopback(parts.hostname):
        message = (
            f"The password for {parts.hostname} would cross the network unhidden: use smtps://"
        )
        raise InvalidInput(message)
    remember(*filter(None, (password,)))
    return Mail(
        name=f"mail {parts.hostname}",
        host=parts.hostname,
        port=parts.port or port,
        security=security,
        sender=mail_from,
        recipients=mail_to,
        user=unquote(parts.username) if parts.username else None,
        password=password,
    )


def _split(smtp: str) -> SplitResult:
    try:
        parts = urlsplit(smtp)
        _ = parts.port
    except ValueError:
        message = "The port of the mail server is no number"
        raise InvalidInput(message) from None
    return parts
