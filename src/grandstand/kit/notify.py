"""Notifications by webhook and email, delivered through the outbox."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

import msgspec

from grandstand.core.errors import InvalidInput, NotFound, SourceFailed, Unavailable
from grandstand.core.logging import get_logger, redact, register_secrets
from grandstand.kit.auth.host_policy import is_loopback
from grandstand.kit.outbox import DeliveryHandler, Outbox, OutboxMessage
from grandstand.net.client import Credentials
from grandstand.net.retry import RetryPolicy
from grandstand.storage.tables.operations.item_ops import Put

if TYPE_CHECKING:
    from grandstand.net.client import Source, SourceRegistry

Security: TypeAlias = Literal["none", "starttls", "tls"]

_SECURITY: Final[dict[str, tuple[Security, int]]] = {
    "smtp": ("starttls", 587),
    "smtps": ("tls", 465),
    "smtp+plain": ("none", 25),
}


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that notifications are posted to; the URL is a secret."""

    name: str
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail server with sender and recipients."""

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
    """Return the configured channels; raise InvalidInput if a setting is invalid.

    `smtp` is smtp://USER:PASSWORD@HOST:587 (STARTTLS), smtps://… or, on this machine or without a
    password, smtp+plain://….
    """
    hooks: list[Channel] = [_webhook(url) for url in webhooks]
    return (*hooks, _mail(smtp, mail_from, mail_to)) if smtp else tuple(hooks)


def _webhook(url: str) -> Webhook:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInput("Invalid webhook. Use a URL such as https://example.org/alerts.")
    # Anybody who knows the path of a webhook can post to it.
    register_secrets(parts.path.strip("/"), parts.query)
    return Webhook(f"webhook {parts.hostname} {sha256(url.encode()).hexdigest()[:8]}", url)


def _mail(smtp: str, mail_from: str, mail_to: tuple[str, ...]) -> Mail:
    try:
        parts = urlsplit(smtp)
        own_port = parts.port
    except ValueError:
        raise InvalidInput("The port of the mail server is not a number") from None
    if parts.scheme not in _SECURITY or not parts.hostname:
        raise InvalidInput(
            "Invalid mail server. Use smtp://USER:PASSWORD@HOST:587, smtps://… or smtp+plain://…."
        )
    if not mail_from or not mail_to:
        raise InvalidInput("Set mail_from and mail_to too: mail needs a sender and a recipient.")
    security, port = _SECURITY[parts.scheme]
    password = unquote(parts.password) if parts.password else None
    if security == "none" and password and not is_loopback(parts.hostname):
        raise InvalidInput(
            f"The password for {parts.hostname} would be sent unencrypted. Use smtps://."
        )
    register_secrets(*filter(None, (password,)))
    return Mail(
        name=f"mail {parts.hostname}",
        host=parts.hostname,
        port=own_port or port,
        security=security,
        sender=mail_from,
        recipients=mail_to,
        user=unquote(parts.username) if parts.username else None,
        password=password,
    )


class MailRefused(SourceFailed):
    """The mail server rejected the message permanently."""

    code = "mail-refused"

    retry = False


class MailNotTaken(Unavailable):
    """The mail server does not respond or does not accept mail now."""

    code = "mail-not-taken"


def send(mail: Mail, message: EmailMessage, trusted: ssl.SSLContext | None, seconds: float) -> None:
    """Send a message and wait for the server.

    Raises MailRefused or MailNotTaken.
    """
    context = trusted or ssl.create_default_context()
    try:
        with _connected(mail, context, seconds) as server:
            if mail.security == "starttls":
                server.starttls(context=context)
            if mail.user is not None:
                server.login(mail.user, mail.password or "")
            refused = server.send_message(message)
    except smtplib.SMTPRecipientsRefused as fault:
        _raise(max(code for code, _ in fault.recipients.values()), mail, fault)
    except smtplib.SMTPResponseException as fault:
        _raise(fault.smtp_code, mail, fault)
    except smtplib.SMTPNotSupportedError as fault:
        _raise(500, mail, fault)
    except (smtplib.SMTPException, OSError) as fault:
        _raise(0, mail, fault)
    if refused:
        get_logger("notify").warning(
            "recipients_refused",
            channel=mail.name,
            codes=sorted(code for code, _ in refused.values()),
        )


def _connected(mail: Mail, context: ssl.SSLContext, seconds: float) -> smtplib.SMTP:
    if mail.security == "tls":
        return smtplib.SMTP_SSL(mail.host, mail.port, timeout=seconds, context=context)
    return smtplib.SMTP(mail.host, mail.port, timeout=seconds)


def _raise(code: int, mail: Mail, fault: Exception) -> NoReturn:
    message = redact(f"{mail.host}: {type(fault).__name__}: {fault}")
    # SMTP replies from 500 on are permanent.
    raise (MailRefused(message) if code >= 500 else MailNotTaken(message)) from fault


WEBHOOK: Final = "notify.webhook"
MAIL: Final = "notify.mail"


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification: the app, the kind, a title and a text."""

    app: str
    kind: str
    title: str
    text: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class _ChannelMessage:
    """A notification for one channel, as stored in the outbox."""

    channel: str
    message: Notification


class Notifier:
    """Sends notifications through every configured channel.

    A notification with the same key is sent once. Webhooks get the key as `Idempotency-Key`, mails
    in their Message-ID.
    """

    def __init__(
        self,
        outbox: Outbox,
        channels: tuple[Channel, ...],
        *,
        web: SourceRegistry,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._outbox = outbox
        self._channels = {channel.name: channel for channel in channels}
        self._web = web
        self._context = context
        self._sources: dict[str, Source] = {}

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the configured channels."""
        return tuple(self._channels)

    def writes(self, message: Notification, key: str) -> tuple[Put[OutboxMessage], ...]:
        """Return the outbox writes of a notification, for the transaction that causes it.

        Empty without channels. The transaction is cancelled if the key was used before.
        """
        return tuple(self._outbox.write(*stored) for stored in self._stored(message, key))

    async def send(self, message: Notification, key: str) -> int:
        """Send a notification; return the number of channels it was not sent through before."""
        return sum([await self._outbox.put(*stored) for stored in self._stored(message, key)])

    def handlers(self) -> dict[str, DeliveryHandler]:
        """Return the outbox handlers of the notification topics."""
        return {WEBHOOK: self._post, MAIL: self._mail}

    def _stored(self, message: Notification, key: str) -> list[tuple[str, str, object]]:
        """Return topic, idempotency key and body of the outbox message for each channel."""
        return [
            (
                WEBHOOK if isinstance(channel, Webhook) else MAIL,
                f"{name}/{key}",
                asdict(_ChannelMessage(name, message)),
            )
            for name, channel in self._channels.items()
        ]

    async def _post(self, stored: OutboxMessage) -> None:
        addressed = msgspec.json.decode(stored.body, type=_ChannelMessage)
        hook = self._channels.get(addressed.channel)
        if not isinstance(hook, Webhook):
            raise NotFound(f"The channel {addressed.channel} is no longer configured")
        body = {**asdict(addressed.message), "at": stored.created_at.isoformat()}
        key = stored.idempotency_key.partition("/")[2]
        headers = {"idempotency-key": quote(key, safe="/#:@=+,;")}
        await self._source(hook).post("", json=body, headers=headers)

    def _source(self, hook: Webhook) -> Source:
        if hook.name not in self._sources:
            parts = urlsplit(hook.url)
            self._sources[hook.name] = self._web.source(
                hook.name,
                base_url=urlunsplit(parts._replace(query="", fragment="")),
                credentials=Credentials(params=dict(parse_qsl(parts.query))),
                # The outbox retries.
                retries=RetryPolicy(tries=1),
            )
        return self._sources[hook.name]

    async def _mail(self, stored: OutboxMessage) -> None:
        addressed = msgspec.json.decode(stored.body, type=_ChannelMessage)
        mail = self._channels.get(addressed.channel)
        if not isinstance(mail, Mail):
            raise NotFound(f"The channel {addressed.channel} is no longer configured")
        email = _build_email(mail, addressed.message, stored)
        await asyncio.to_thread(send, mail, email, self._context, 20.0)


def _build_email(mail: Mail, message: Notification, stored: OutboxMessage) -> EmailMessage:
    digest = sha256(stored.idempotency_key.encode()).hexdigest()[:32]
    email = EmailMessage()
    # A header is a single line.
    email["Subject"] = " ".join(message.title.split())
    email["From"] = mail.sender
    email["To"] = ", ".join(mail.recipients)
    email["Date"] = format_datetime(stored.created_at)
    email["Message-ID"] = f"<{digest}@grandstand.local>"
    email["Auto-Submitted"] = "auto-generated"
    email.set_content("\n\n".join(filter(None, (message.text, message.href))) + "\n")
    return email
