"""Kept here: what DynamoDB, its relatives and the network say when they fail, in our own errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from grandstand.base.errors import GrandstandError, Unavailable
from grandstand.storage.tables.encoding.attributes import item_from_wire
from grandstand.storage.tables.errors import (
    AccessRefused,
    CancellationReason,
    ChangesLost,
    ConditionFailed,
    InvalidRequest,
    ItemCollectionTooLarge,
    IteratorExpired,
    StoreUnavailable,
    TableInUse,
    TableNotFound,
    Throttled,
    TokenReused,
    TooMany,
    TransactionCancelled,
    TransactionConflict,
    TransactionInProgress,
)

_SERVER_FAULT: Final = 500


class NotOffered(Unavailable):
    """The service behind the endpoint does not know this operation."""

    aws_name: ClassVar[str] = "UnknownOperationException"
    retry = False


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed call: our error for it, whether to try again, and whether it may have worked.

    `doubtful` means that the service may have carried the call out and only its answer was lost.
    """

    error: GrandstandError
    retry: bool = False
    doubtful: bool = False


def failure(fault: Exception) -> Failure:
    """Translate what botocore raised."""
    from botocore.exceptions import ClientError

    if isinstance(fault, ClientError):
        return _answered(fault.response)
    return _unanswered(fault)


_PLAIN: Final[dict[str, type[GrandstandError]]] = {
    "ValidationException": InvalidRequest,
    "SerializationException": InvalidRequest,
    "ResourceNotFoundException": TableNotFound,
    "TableNotFoundException": TableNotFound,
    "ResourceInUseException": TableInUse,
    "TableInUseException": TableInUse,
    "TableAlreadyExistsException": TableInUse,
    "ItemCollectionSizeLimitExceededException": ItemCollectionTooLarge,
    "IdempotentParameterMismatchException": TokenReused,
    "LimitExceededException": TooMany,
    "TrimmedDataAccessException": ChangesLost,
    "ExpiredIteratorException": IteratorExpired,
    "UnknownOperationException": NotOffered,
    "AccessDeniedException": AccessRefused,
    "AccessDenied": AccessRefused,
    "UnrecognizedClientException": AccessRefused,
    "InvalidClientTokenId": AccessRefused,
    "InvalidSignatureException": AccessRefused,
    "SignatureDoesNotMatch": AccessRefused,
    "IncompleteSignatureException": AccessRefused,
    "IncompleteSignature": AccessRefused,
    "MissingAuthenticationTokenException": AccessRefused,
    "MissingAuthenticationToken": AccessRefused,
    "ExpiredTokenException": AccessRefused,
    "ExpiredToken": AccessRefused,
}

_PASSING: Final[dict[str, type[GrandstandError]]] = {
    "ProvisionedThroughputExceededException": Throttled,
    "RequestLimitExceeded": Throttled,
    "ThrottlingException": Throttled,
    "Throttling": Throttled,
    "ThrottledException": Throttled,
    "RequestThrottled": Throttled,
    "TooManyRequestsException": Throttled,
    "TransactionConflictException": TransactionConflict,
    "ReplicatedWriteConflictException": TransactionConflict,
    "TransactionInProgressException": TransactionInProgress,
}

_PASSING_REASONS: Final = frozenset(
    ("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")
)


def _answered(response: dict[str, Any]) -> Failure:
    error = response.get("Error") or {}
    code = str(error.get("Code", ""))
    message = str(error.get("Message", "")) or code
    status = (response.get("ResponseMetadata") or {}).get("HTTPStatusCode", 0)
    if code == "ConditionalCheckFailedException":
        return Failure(ConditionFailed(message, _item(response)))
    if code == "TransactionCanceledException":
        return _cancelled(response)
    if code in _PASSING:
        return Failure(_PASSING[code](message), retry=True)
    if code in _PLAIN:
        return Failure(_PLAIN[code](message))
    if status >= _SERVER_FAULT or code in ("InternalServerError", "InternalFailure"):
        return Failure(StoreUnavailable(message), retry=True, doubtful=True)
    return Failure(InvalidRequest(f"{code}: {message}"))


def _cancelled(response: dict[str, Any]) -> Failure:
    reasons = tuple(
        CancellationReason(reason.get("Code") or "None", reason.get("Message"), _item(reason))
        for reason in response.get("CancellationReasons") or ()
    )
    passing = bool(reasons) and all(reason.code in _PASSING_REASONS for reason in reasons)
    return Failure(TransactionCancelled(reasons), retry=passing)


def _item(holder: dict[str, Any]) -> dict[str, Any] | None:
    item = holder.get("Item")
    return item_from_wire(item) if item else None


def _unanswered(fault: Exception) -> Failure:
    from botocore import exceptions

    if isinstance(fault, exceptions.NoRegionError):
        message = "No region is set: name one, for example eu-west-1"
        return Failure(InvalidRequest(message))
    if isinstance(fault, exceptions.ParamValidationError):
        return Failure(InvalidRequest(str(fault)))
    if isinstance(
        fault,
        exceptions.NoCredentialsError
        | exceptions.PartialCredentialsError
        | exceptions.CredentialRetrievalError,
    ):
        return Failure(AccessRefused(f"{fault}: give credentials, or configure AWS's own"))
    error = StoreUnavailable(str(fault))
    if isinstance(
        fault,
        exceptions.ConnectTimeoutError
        | exceptions.EndpointConnectionError
        | exceptions.ProxyConnectionError
        | exceptions.SSLError,
    ):
        return Failure(error, retry=True)
    lost = isinstance(
        fault,
        exceptions.HTTPClientError
        | exceptions.ChecksumError
        | exceptions.IncompleteReadError
        | exceptions.ResponseStreamingError,
    )
    return Failure(error, retry=lost or not _of_botocore(fault), doubtful=True)


def _of_botocore(fault: Exception) -> bool:
    from botocore.exceptions import BotoCoreError

    return isinstance(fault, BotoCoreError)
