"""Kept here: what can be wrong with a request before its meaning is looked at."""

from __future__ import annotations

from typing import ClassVar

from grandstand.base.errors import InvalidInput, NotAllowed, Unavailable
from grandstand.storage.tables.errors import InvalidRequest


class Unreadable(InvalidInput):
    """The body is not the JSON the operation takes."""

    aws_name: ClassVar[str] = "SerializationException"


class OperationUnknown(InvalidInput):
    """There is no such operation here."""

    aws_name: ClassVar[str] = "UnknownOperationException"


class BodyTooLarge(InvalidInput):
    """The request is longer than the service reads."""

    aws_name: ClassVar[str] = "RequestEntityTooLargeException"


class BodyUndecodable(Unavailable):
    """The body is not encoded the way its header says."""

    aws_name: ClassVar[str] = "InternalServerError"


class Unsigned(NotAllowed):
    """The request carries no credentials."""

    aws_name: ClassVar[str] = "MissingAuthenticationTokenException"


class SignatureIncomplete(NotAllowed):
    """A part of the signature is missing or misshapen."""

    aws_name: ClassVar[str] = "IncompleteSignatureException"


class SignatureWrong(NotAllowed):
    """The signature does not fit the request, its time or this service."""

    aws_name: ClassVar[str] = "InvalidSignatureException"


class AccessDenied(NotAllowed):
    """The resource named belongs to another account or service."""

    aws_name: ClassVar[str] = "AccessDeniedException"


def invalid(message: str) -> InvalidRequest:
    """Say that a parameter is wrong, in the form DynamoDB puts before most such sentences."""
    return InvalidRequest(f"One or more parameter values were invalid: {message}")
