"""Notifications by webhook and email, delivered through the outbox."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit, urlunsplit

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
    parts = _split(smtp)
    if parts.scheme not in _SECURITY or not parts.hostname:
        message = (
            "Invalid mail server. Use smtp://USER:PASSWORD@HOST:587, smtps://… or smtp+plain://…."
        )
        raise InvalidInput(message)
    if not mail_from or not mail_to:
        raise InvalidInput("Set mail_from and mail_to too: mail needs a sender and a recipient.")
    security, port = _SECURITY[parts.scheme]
    password = unquote(parts.password) if parts.password else None
    if security == "none" and password and not is_loopback(parts.hostname):
        message = f"The password for {parts.hostname} would be sent unencrypted. Use smtps://."
        raise InvalidInput(message)
    register_secrets(*filter(None, (password,)))
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
        raise InvalidInput("The port of the mail server is not a number") from None
    return parts


_FIRST_FINAL_CODE: Final = 500


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
        _raise(_FIRST_FINAL_CODE, mail, fault)
    except (smtplib.SMTPException, OSError) as fault:
        _raise(0, mail, fault)
    if refused:
        get_logger("notify").warning(
            "some recipients were refused", channel=mail.name, codes=_codes(refused)
        )


def _connected(mail: Mail, context: ssl.SSLContext, seconds: float) -> smtplib.SMTP:
    if mail.security == "tls":
        return smtplib.SMTP_SSL(mail.host, mail.port, timeout=seconds, context=context)
    return smtplib.SMTP(mail.host, mail.port, timeout=seconds)


def _raise(code: int, mail: Mail, fault: Exception) -> NoReturn:
    said = redact(f"{mail.host}: {type(fault).__name__}: {fault}")
    raise (MailRefused(said) if code >= _FIRST_FINAL_CODE else MailNotTaken(said)) from fault


def _codes(refused: Mapping[str, tuple[int, bytes]]) -> list[int]:
    return sorted(code for code, _ in refused.values())


WEBHOOK: Final = "notify.webhook"
MAIL: Final = "notify.mail"
_MAIL_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification: the app, the kind, a title and a text."""

    app: str
    kind: str
    title: str
    text: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class _Letter:
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
        return tuple(
            self._outbox.write(topic, f"{channel}/{key}", letter)
            for topic, channel, letter in self._letters(message)
        )

    async def tell(self, message: Notification, key: str) -> int:
        """Send a notification; return the number of channels it was not sent through before."""
        told = [
            await self._outbox.put(topic, f"{channel}/{key}", letter)
            for topic, channel, letter in self._letters(message)
        ]
        return sum(told)

    def ways(self) -> dict[str, DeliveryHandler]:
        """Return the outbox handlers of the notification topics."""
        return {WEBHOOK: self._post, MAIL: self._mail}

    def _letters(self, message: Notification) -> list[tuple[str, str, dict[str, object]]]:
        return [
            (
                WEBHOOK if isinstance(channel, Webhook) else MAIL,
                name,
                asdict(_Letter(name, message)),
            )
            for name, channel in self._channels.items()
        ]

    async def _post(self, consequence: OutboxMessage) -> None:
        letter = _opened(consequence)
        hook = self._channels.get(letter.channel)
        if not isinstance(hook, Webhook):
            raise _gone(letter)
        told = {**asdict(letter.message), "at": consequence.created_at.isoformat()}
        key = consequence.idempotency_key.partition("/")[2]
        headers = {"idempotency-key": quote(key, safe="/#:@=+,;")}
        await self._source(hook).post("", json=told, headers=headers)

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

    async def _mail(self, consequence: OutboxMessage) -> None:
        letter = _opened(consequence)
        mail = self._channels.get(letter.channel)
        if not isinstance(mail, Mail):
            raise _gone(letter)
        written = _written(mail, letter.message, consequence)
        await asyncio.to_thread(send, mail, written, self._context, _MAIL_SECONDS)


def _opened(consequence: OutboxMessage) -> _Letter:
    return msgspec.json.decode(consequence.body, type=_Letter)


def _gone(letter: _Letter) -> NotFound:
    return NotFound(f"The channel {letter.channel} is no longer configured")


def _written(mail: Mail, message: Notification, consequence: OutboxMessage) -> EmailMessage:
    known_by = sha256(consequence.idempotency_key.encode()).hexdigest()[:32]
    written = EmailMessage()
    # A header is a single line.
    written["Subject"] = " ".join(message.title.split())
    written["From"] = mail.sender
    written["To"] = ", ".join(mail.recipients)
    written["Date"] = format_datetime(consequence.created_at)
    written["Message-ID"] = f"<{known_by}@grandstand.local>"
    written["Auto-Submitted"] = "auto-generated"
    written.set_content("\n\n".join(filter(None, (message.text, message.href))) + "\n")
    return written
