"""Translation of botocore errors to errors of table storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from grandstand.core.errors import GrandstandError, Unavailable
from grandstand.storage.tables import errors
from grandstand.storage.tables.encoding import item_from_wire


class OperationNotSupported(Unavailable):
    """The service does not support an operation."""

    code = "operation-not-supported"

    aws_name: ClassVar[str] = "UnknownOperationException"
    retry = False


@dataclass(frozen=True, slots=True)
class CallFailure:
    """A failed call: the translated error, and whether to try again.

    `outcome_unknown` means that the service may have executed the call and the response was lost.
    """

    error: GrandstandError
    retry: bool = False
    outcome_unknown: bool = False


def translate_error(error: Exception) -> CallFailure:
    """Translate an error of botocore."""
    from botocore.exceptions import ClientError

    if isinstance(error, ClientError):
        return _translate_response(error.response)
    return _translate_client_error(error)


_PERMANENT_ERRORS: Final[dict[str, type[GrandstandError]]] = {
    "ValidationException": errors.InvalidRequest,
    "SerializationException": errors.InvalidRequest,
    "ResourceNotFoundException": errors.TableNotFound,
    "TableNotFoundException": errors.TableNotFound,
    "ResourceInUseException": errors.TableInUse,
    "TableInUseException": errors.TableInUse,
    "TableAlreadyExistsException": errors.TableInUse,
    "ItemCollectionSizeLimitExceededException": errors.ItemCollectionTooLarge,
    "IdempotentParameterMismatchException": errors.TokenReused,
    "LimitExceededException": errors.TooMany,
    "TrimmedDataAccessException": errors.ChangesLost,
    "ExpiredIteratorException": errors.IteratorExpired,
    "UnknownOperationException": OperationNotSupported,
    "AccessDeniedException": errors.AccessRefused,
    "AccessDenied": errors.AccessRefused,
    "UnrecognizedClientException": errors.AccessRefused,
    "InvalidClientTokenId": errors.AccessRefused,
    "InvalidSignatureException": errors.AccessRefused,
    "SignatureDoesNotMatch": errors.AccessRefused,
    "IncompleteSignatureException": errors.AccessRefused,
    "IncompleteSignature": errors.AccessRefused,
    "MissingAuthenticationTokenException": errors.AccessRefused,
    "MissingAuthenticationToken": errors.AccessRefused,
    "ExpiredTokenException": errors.AccessRefused,
    "ExpiredToken": errors.AccessRefused,
}

_TRANSIENT_ERRORS: Final[dict[str, type[GrandstandError]]] = {
    "ProvisionedThroughputExceededException": errors.Throttled,
    "RequestLimitExceeded": errors.Throttled,
    "ThrottlingException": errors.Throttled,
    "Throttling": errors.Throttled,
    "ThrottledException": errors.Throttled,
    "RequestThrottled": errors.Throttled,
    "TooManyRequestsException": errors.Throttled,
    "TransactionConflictException": errors.TransactionConflict,
    "ReplicatedWriteConflictException": errors.TransactionConflict,
    "TransactionInProgressException": errors.TransactionInProgress,
}

_TRANSIENT_REASONS: Final = frozenset(
    ("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")
)


def _translate_response(response: dict[str, Any]) -> CallFailure:
    error = response.get("Error") or {}
    code = str(error.get("Code", ""))
    message = str(error.get("Message", "")) or code
    status = (response.get("ResponseMetadata") or {}).get("HTTPStatusCode", 0)
    if code == "ConditionalCheckFailedException":
        return CallFailure(errors.ConditionFailed(message, _decode_item(response)))
    if code == "TransactionCanceledException":
        return _translate_cancellation(response)
    if code in _TRANSIENT_ERRORS:
        return CallFailure(_TRANSIENT_ERRORS[code](message), retry=True)
    if code in _PERMANENT_ERRORS:
        return CallFailure(_PERMANENT_ERRORS[code](message))
    if status >= 500 or code in ("InternalServerError", "InternalFailure"):
        return CallFailure(errors.StoreUnavailable(message), retry=True, outcome_unknown=True)
    return CallFailure(errors.InvalidRequest(f"{code}: {message}"))


def _translate_cancellation(response: dict[str, Any]) -> CallFailure:
    reasons = tuple(
        errors.CancellationReason(
            reason.get("Code") or "None", reason.get("Message"), _decode_item(reason)
        )
        for reason in response.get("CancellationReasons") or ()
    )
    transient = bool(reasons) and all(reason.code in _TRANSIENT_REASONS for reason in reasons)
    return CallFailure(errors.TransactionCancelled(reasons), retry=transient)


def _decode_item(holder: dict[str, Any]) -> dict[str, Any] | None:
    item = holder.get("Item")
    return item_from_wire(item) if item else None


def _translate_client_error(error: Exception) -> CallFailure:
    from botocore import exceptions

    if isinstance(error, exceptions.NoRegionError):
        message = "No AWS region is configured. Set one, for example eu-west-1."
        return CallFailure(errors.InvalidRequest(message))
    if isinstance(error, exceptions.ParamValidationError):
        return CallFailure(errors.InvalidRequest(str(error)))
    if isinstance(
        error,
        exceptions.NoCredentialsError
        | exceptions.PartialCredentialsError
        | exceptions.CredentialRetrievalError,
    ):
        return CallFailure(errors.AccessRefused(f"{error}. Configure AWS credentials."))
    unavailable = errors.StoreUnavailable(str(error))
    if isinstance(
        error,
        exceptions.ConnectTimeoutError
        | exceptions.EndpointConnectionError
        | exceptions.ProxyConnectionError
        | exceptions.SSLError,
    ):
        return CallFailure(unavailable, retry=True)
    response_lost = isinstance(
        error,
        exceptions.HTTPClientError
        | exceptions.ChecksumError
        | exceptions.IncompleteReadError
        | exceptions.ResponseStreamingError,
    )
    unexpected = not isinstance(error, exceptions.BotoCoreError)
    return CallFailure(unavailable, retry=response_lost or unexpected, outcome_unknown=True)
