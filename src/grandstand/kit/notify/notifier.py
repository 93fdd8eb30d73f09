"""Kept here: telling people outside the house: written to the outbox, delivered from there."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import asdict, dataclass
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

import msgspec

from grandstand.base.errors import NotFound
from grandstand.kit.notify.channels import Channel, Mail, Webhook
from grandstand.kit.notify.mailing import send
from grandstand.kit.outbox import Consequence, Deliver, Outbox
from grandstand.storage.tables.operations.single import Put
from grandstand.wire.web import Credentials, Retries

if TYPE_CHECKING:
    from grandstand.wire.web import Source, Web

WEBHOOK: Final = "notify.webhook"
MAIL: Final = "notify.mail"
_MAIL_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be told: of which application, of what kind, a headline and a sentence."""

    app: str
    kind: str
    title: str
    text: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class _Letter:
    """A message on its way through one channel, as the outbox keeps it."""

    channel: str
    message: Message


class Notifier:
    """Tells a message through every channel that is set up, each on its own.

    The key says what is told: the same key is told once. Webhooks get it as `Idempotency-Key`,
    mails carry it in their Message-ID.
    """

    def __init__(
        self,
        outbox: Outbox,
        channels: tuple[Channel, ...],
        *,
        web: Web,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._outbox = outbox
        self._channels = {channel.name: channel for channel in channels}
        self._web = web
        self._context = context
        self._sources: dict[str, Source] = {}

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels that are set up."""
        return tuple(self._channels)

    def writes(self, message: Message, key: str) -> tuple[Put[Consequence], ...]:
        """Answer the writes that tell a message, for the transaction that makes it true.

        There are none when no channel is set up. The transaction is cancelled when the key was
        told before.
        """
        return tuple(
            self._outbox.write(topic, f"{channel}/{key}", letter)
            for topic, channel, letter in self._letters(message)
        )

    async def tell(self, message: Message, key: str) -> int:
        """Tell a message; answer through how many channels it was not told before."""
        told = [
            await self._outbox.put(topic, f"{channel}/{key}", letter)
            for topic, channel, letter in self._letters(message)
        ]
        return sum(told)

    def ways(self) -> dict[str, Deliver]:
        """Answer how what was written is delivered, for the deliverer."""
        return {WEBHOOK: self._post, MAIL: self._mail}

    def _letters(self, message: Message) -> list[tuple[str, str, dict[str, object]]]:
        return [
            (
                WEBHOOK if isinstance(channel, Webhook) else MAIL,
                name,
                asdict(_Letter(name, message)),
            )
            for name, channel in self._channels.items()
        ]

    async def _post(self, consequence: Consequence) -> None:
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
                # The outbox tries again by itself, and remembers that it has to.
                retries=Retries(tries=1),
            )
        return self._sources[hook.name]

    async def _mail(self, consequence: Consequence) -> None:
        letter = _opened(consequence)
        mail = self._channels.get(letter.channel)
        if not isinstance(mail, Mail):
            raise _gone(letter)
        written = _written(mail, letter.message, consequence)
        await asyncio.to_thread(send, mail, written, self._context, _MAIL_SECONDS)


def _opened(consequence: Consequence) -> _Letter:
    return msgspec.json.decode(consequence.body, type=_Letter)


def _gone(letter: _Letter) -> NotFound:
    return NotFound(f"The channel {letter.channel} is not set up any more")


def _written(mail: Mail, message: Message, consequence: Consequence) -> EmailMessage:
    known_by = sha256(consequence.idempotency_key.encode()).hexdigest()[:32]
    written = EmailMessage()
    # A header is one line, whatever a headline holds.
    written["Subject"] = " ".join(message.title.split())
    written["From"] = mail.sender
    written["To"] = ", ".join(mail.recipients)
    written["Date"] = format_datetime(consequence.created_at)
    written["Message-ID"] = f"<{known_by}@grandstand.local>"
    written["Auto-Submitted"] = "auto-generated"
    written.set_content("\n\n".join(filter(None, (message.text, message.href))) + "\n")
    return written
