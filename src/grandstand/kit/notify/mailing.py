"""Kept here: sending one mail, and what a mail server's answers mean to us."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Final, NoReturn

from grandstand.base.errors import SourceFailed, Unavailable
from grandstand.base.log import log, redact
from grandstand.kit.notify.channels import Mail

_FIRST_FINAL_CODE: Final = 500


class MailRefused(SourceFailed):
    """The mail server will not take this mail, however often it is sent."""

    retry = False


class MailNotTaken(Unavailable):
    """The mail server does not answer, or takes no mail now."""


def send(mail: Mail, message: EmailMessage, trusted: ssl.SSLContext | None, seconds: float) -> None:
    """Hand a mail over, waiting for the server, which is trusted as this machine does by itself.

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
        log("notify").warning(
            "some receivers were refused", channel=mail.name, codes=_codes(refused)
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
