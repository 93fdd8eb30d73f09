"""Errors of tables, with the names DynamoDB gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grandstand.core.errors import (
    Broken,
    Conflict,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    Unavailable,
)

if TYPE_CHECKING:
    from grandstand.storage.tables.attribute_values import Item


class DeclarationFault(InvalidInput):
    """A table, entity or access pattern is declared incorrectly; the message says how to fix it."""

    code: ClassVar[str] = "invalid-declaration"


class CursorInvalid(InvalidInput):
    """A page cursor is damaged or belongs to another query."""

    code: ClassVar[str] = "invalid-cursor"


class InvalidRequest(InvalidInput):
    """The request violates a rule of DynamoDB."""

    code: ClassVar[str] = "invalid-request"
    aws_name: ClassVar[str] = "ValidationException"


class ItemCollectionTooLarge(InvalidInput):
    """A partition exceeds the size that a local index allows."""

    code: ClassVar[str] = "item-collection-too-large"
    aws_name: ClassVar[str] = "ItemCollectionSizeLimitExceededException"


class AccessRefused(NotAllowed):
    """The credentials are missing, unknown or not authorized."""

    code: ClassVar[str] = "access-denied"
    aws_name: ClassVar[str] = "UnrecognizedClientException"


class TableNotFound(NotFound):
    """There is no such table, index or stream."""

    code: ClassVar[str] = "table-not-found"
    aws_name: ClassVar[str] = "ResourceNotFoundException"


class TableInUse(Conflict):
    """The table already exists, or is being changed."""

    code: ClassVar[str] = "table-in-use"
    aws_name: ClassVar[str] = "ResourceInUseException"


class ConditionFailed(Conflict):
    """The stored item did not meet the condition of a write.

    `item` is the stored item, if requested; `found` is the same as an entity, if a store raised it.
    """

    code: ClassVar[str] = "condition-failed"
    aws_name: ClassVar[str] = "ConditionalCheckFailedException"

    def __init__(
        self, message: str = "The conditional request failed", item: Item | None = None
    ) -> None:
        super().__init__(message)
        self.item = item
        self.found: object | None = None


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """Why an action cancelled a transaction; the code is "None" if it did not."""

    code: str = "None"
    message: str | None = None
    item: Item | None = None


class TransactionCancelled(Conflict):
    """No action of the transaction was executed; `reasons` has one entry per action."""

    code: ClassVar[str] = "transaction-cancelled"
    aws_name: ClassVar[str] = "TransactionCanceledException"

    def __init__(self, reasons: tuple[CancellationReason, ...]) -> None:
        codes = ", ".join(reason.code for reason in reasons)
        super().__init__(
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            f"[{codes}]"
        )
        self.reasons = reasons


class TransactionConflict(Conflict):
    """Another transaction holds one of the items; a retry may succeed."""

    code: ClassVar[str] = "transaction-conflict"
    aws_name: ClassVar[str] = "TransactionConflictException"
    retry = True


class TransactionInProgress(Conflict):
    """A transaction with the same token is still running."""

    code: ClassVar[str] = "transaction-in-progress"
    aws_name: ClassVar[str] = "TransactionInProgressException"
    retry = True


class TokenReused(Conflict):
    """The token of an earlier transaction was used with other actions."""

    code: ClassVar[str] = "token-reused"
    aws_name: ClassVar[str] = "IdempotentParameterMismatchException"


class Throttled(LimitReached):
    """The capacity of the table is exhausted for now."""

    code: ClassVar[str] = "throttled"
    aws_name: ClassVar[str] = "ProvisionedThroughputExceededException"


class TooMany(LimitReached):
    """There are too many tables, or too many concurrent changes to tables."""

    code: ClassVar[str] = "too-many-tables"
    aws_name: ClassVar[str] = "LimitExceededException"
    retry = False


class Unprocessed(Unavailable):
    """Part of a batch was not processed after all retries; `left` has the rest."""

    code: ClassVar[str] = "unprocessed"
    aws_name: ClassVar[str] = "InternalServerError"

    def __init__(self, message: str, left: tuple[object, ...]) -> None:
        super().__init__(message)
        self.left = left


class ChangesLost(Conflict):
    """Changes after the consumer's position were trimmed: rebuild from the table, then continue."""

    code: ClassVar[str] = "changes-lost"
    aws_name: ClassVar[str] = "TrimmedDataAccessException"


class IteratorExpired(InvalidInput):
    """An iterator of a change stream was held too long."""

    code: ClassVar[str] = "iterator-expired"
    aws_name: ClassVar[str] = "ExpiredIteratorException"


class StoreUnavailable(Unavailable):
    """The store does not respond, is locked, has too many waiting writes, or its disk is full.

    `retry_after_seconds` is when to try again, if known.
    """

    code: ClassVar[str] = "store-unavailable"
    aws_name: ClassVar[str] = "InternalServerError"

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StoreReadOnly(Unavailable):
    """The store is read-only."""

    code: ClassVar[str] = "store-read-only"
    aws_name: ClassVar[str] = "InternalServerError"
    retry = False


class StoreDamaged(Broken):
    """The file is damaged; restore it from a backup."""

    code: ClassVar[str] = "store-damaged"
    aws_name: ClassVar[str] = "InternalServerError"


class StoreTooNew(Broken):
    """The file was written by a newer version of Grandstand."""

    code: ClassVar[str] = "store-too-new"
    aws_name: ClassVar[str] = "InternalServerError"


class StoredItemInvalid(Broken):
    """A stored item does not match the declaration of its entity."""

    code: ClassVar[str] = "invalid-stored-item"
    aws_name: ClassVar[str] = "InternalServerError"


class LeaseLost(Conflict):
    """Another owner holds the lease, so nothing may be written under it."""

    code: ClassVar[str] = "lease-lost"
