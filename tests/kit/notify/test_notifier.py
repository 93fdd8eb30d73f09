"""An alert reaches webhooks and mailboxes through the outbox, once for its key."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.core.metrics import Metrics
from grandstand.kit.notify import Channel, Mail, Notification, Notifier, read_channels
from grandstand.kit.outbox import OUTBOX_TABLES, Deliverer, DeliveryPolicy, Outbox
from grandstand.net.client import SourceRegistry
from grandstand.storage.tables import AsyncStore
from tests.kit.jobs.conftest import once, until
from tests.kit.notify.servers import Hook, PostOffice, certified, hook_serving, mail_serving
from tests.kit.stores import open_at

pytestmark = pytest.mark.anyio

WICKET = Notification(
    "cricket", "wicket", "Wicket!\nBcc: x@y", "Root is out – 17/1", "/cricket/m/1"
)
QUICK = DeliveryPolicy(
    try_seconds=20, tries=4, first_seconds=0.1, look_seconds=0.1, stop_seconds=20
)
TO = {"mail_from": "platform@example.test", "mail_to": ("ada@example.test", "bob@example.test")}

Telling = Callable[..., AbstractAsyncContextManager[Notifier]]


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hook_serving() as serving:
        yield serving


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AsyncStore]:
    opened = open_at(str(tmp_path / "tables.db"), "")
    opened.store.create(OUTBOX_TABLES)
    yield opened
    opened.store.close()


@pytest.fixture
def telling(store: AsyncStore) -> Telling:
    """Makes a notifier with channels, and delivers what it writes for the length of a block."""

    @asynccontextmanager
    async def begin(
        *channels: Channel, context: ssl.SSLContext | None = None
    ) -> AsyncIterator[Notifier]:
        given = {"clock": SystemClock(), "random": Random(1), "metrics": Metrics()}
        async with SourceRegistry(**given) as web:  # type: ignore[arg-type]
            outbox = Outbox(store, SystemClock())
            notifier = Notifier(outbox, channels, web=web, context=context)
            deliverer = Deliverer(store, notifier.handlers(), policy=QUICK, **given)  # type: ignore[arg-type]
            task = asyncio.create_task(deliverer.run())
            yield notifier
            await deliverer.stop()
            await task

    return begin


def mail(office: PostOffice, scheme: str = "smtp+plain", login: str = "") -> tuple[Channel, ...]:
    smtp = f"{scheme}://{login}127.0.0.1:{office.port}"
    return read_channels(smtp=smtp, **TO)  # type: ignore[arg-type]


async def test_a_webhook_gets_the_message_with_its_key(telling: Telling, hook: Hook) -> None:
    async with telling(*read_channels(webhooks=[hook.url])) as notifier:
        told = await notifier.send(WICKET, "match 1 ball 17 ✓")
        await until(lambda: len(hook.got) == 1)

    [posted] = hook.got
    assert told == 1
    assert posted.path == "/hooks/T0123SECRET?room=ops-5678"
    assert posted.headers["idempotency-key"] == "match%201%20ball%2017%20%E2%9C%93"
    assert posted.body["text"] == "Root is out – 17/1"
    assert (posted.body["app"], posted.body["href"]) == ("cricket", "/cricket/m/1")


async def test_a_webhook_that_fails_gets_it_again_and_the_same_key_is_told_once(
    telling: Telling, hook: Hook
) -> None:
    hook.statuses = [503, 500]

    async with telling(*read_channels(webhooks=[hook.url])) as notifier:
        first = await notifier.send(WICKET, "ball 17")
        await until(lambda: len(hook.got) == 3)
        second = await notifier.send(WICKET, "ball 17")
        await asyncio.sleep(0.5)

    assert (first, second, len(hook.got)) == (1, 0, 3)
    assert {posted.headers["idempotency-key"] for posted in hook.got} == {"ball%2017"}


async def test_a_webhook_that_refuses_is_given_up_without_telling_its_address(
    telling: Telling, hook: Hook, store: AsyncStore
) -> None:
    hook.statuses = [403]

    async with telling(*read_channels(webhooks=[hook.url])) as notifier:
        await notifier.send(WICKET, "ball 17")
        [dead] = await once(Outbox(store, SystemClock()).dead)

    assert len(hook.got) == 1
    assert "403" in (dead.last_error or "")
    assert "T0123SECRET" not in repr(dead)


async def test_a_message_is_told_only_if_what_it_says_was_written(
    telling: Telling, hook: Hook, store: AsyncStore
) -> None:
    async with telling(*read_channels(webhooks=[hook.url])) as notifier:
        await store.all(*notifier.writes(WICKET, "ball 18"))
        await until(lambda: len(hook.got) == 1)

    assert hook.got[0].body["title"].startswith("Wicket!")


async def test_a_mail_reaches_every_receiver(telling: Telling) -> None:
    with mail_serving(PostOffice()) as office:
        async with telling(*mail(office, login="platform:p%40ssword@")) as notifier:
            await notifier.send(WICKET, "ball 17")
            await until(lambda: len(office.got) == 1)

    [letter] = office.got
    assert office.logins == ["\0platform\0p@ssword"]
    assert office.receivers == ["TO:<ada@example.test>", "TO:<bob@example.test>"]
    assert letter["Subject"] == "Wicket! Bcc: x@y"
    assert letter["Bcc"] is None
    assert letter.get_content().splitlines() == ["Root is out – 17/1", "", "/cricket/m/1"]


@pytest.mark.parametrize(("scheme", "implicit"), [("smtps", True), ("smtp", False)])
async def test_a_mail_goes_out_hidden(
    telling: Telling, tmp_path: Path, scheme: str, *, implicit: bool
) -> None:
    serving, trusting = certified(tmp_path)

    with mail_serving(PostOffice(tls=serving, implicit=implicit)) as office:
        async with telling(*mail(office, scheme), context=trusting) as notifier:
            await notifier.send(WICKET, "ball 17")
            await until(lambda: len(office.got) == 1)

    assert office.got[0]["From"] == "platform@example.test"


async def test_a_mail_server_that_cannot_hide_gets_no_mail(
    telling: Telling, store: AsyncStore
) -> None:
    with mail_serving(PostOffice()) as office:
        async with telling(*mail(office, "smtp")) as notifier:
            await notifier.send(WICKET, "ball 17")
            [dead] = await once(Outbox(store, SystemClock()).dead)

    assert office.got == []
    assert "STARTTLS" in (dead.last_error or "")


async def test_a_busy_mail_server_gets_it_again_and_the_same_letter(telling: Telling) -> None:
    with mail_serving(PostOffice(answers=["451 later"])) as office:
        async with telling(*mail(office)) as notifier:
            await notifier.send(WICKET, "ball 17")
            await until(lambda: len(office.got) == 1)

    assert len(office.receivers) == 4
    assert office.got[0]["Message-ID"].endswith("@grandstand.local>")


async def test_a_mail_server_that_refuses_is_not_bothered_again(
    telling: Telling, store: AsyncStore
) -> None:
    with mail_serving(PostOffice(answers=["554 never"])) as office:
        async with telling(*mail(office)) as notifier:
            await notifier.send(WICKET, "ball 17")
            [dead] = await once(Outbox(store, SystemClock()).dead)

    assert (office.got, dead.tries) == ([], 1)
    assert "MailRefused" in (dead.last_error or "")


async def test_a_mail_server_that_is_away_is_tried_again(
    telling: Telling, store: AsyncStore
) -> None:
    with mail_serving(PostOffice()) as office:
        channels = mail(office)
    async with telling(*channels) as notifier:
        await notifier.send(WICKET, "ball 17")
        outbox = Outbox(store, SystemClock())
        [waiting] = await once(
            lambda: outbox.waiting("notify.mail"), lambda seen: seen[0].last_error is not None
        )

    assert waiting.tries >= 1
    assert "MailNotTaken" in (waiting.last_error or "")


async def test_without_channels_nothing_is_written(telling: Telling, store: AsyncStore) -> None:
    async with telling() as notifier:
        told = await notifier.send(WICKET, "ball 17")

    assert (told, notifier.writes(WICKET, "x"), notifier.channels) == (0, (), ())
    assert await Outbox(store, SystemClock()).waiting("notify.mail") == ()


def test_a_mail_server_is_read_from_its_address() -> None:
    [channel] = read_channels(smtp="smtps://me:s%2Fcret@mail.example.test", **TO)  # type: ignore[arg-type]

    assert isinstance(channel, Mail)
    assert (channel.host, channel.port, channel.security) == ("mail.example.test", 465, "tls")
    assert (channel.user, channel.password) == ("me", "s/cret")
    assert "s/cret" not in repr(channel)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"webhooks": ["ftp://example.test"]}, "Invalid webhook"),
        ({"smtp": "http://mail.example.test", **TO}, "Invalid mail server"),
        ({"smtp": "smtp://mail.example.test:many", **TO}, "is not a number"),
        ({"smtp": "smtp://mail.example.test"}, "mail_from"),
        ({"smtp": "smtp+plain://me:secret@mail.example.test", **TO}, "unencrypted"),
    ],
)
def test_a_channel_that_makes_no_sense_is_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read_channels(**given)  # type: ignore[arg-type]
