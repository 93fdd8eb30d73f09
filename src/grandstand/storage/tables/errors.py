"""Kept here: what can go wrong with tables, each error with the name DynamoDB gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grandstand.base.errors import (
    Broken,
    Conflict,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    Unavailable,
)

if TYPE_CHECKING:
    from grandstand.storage.tables.values import Item


class DeclarationFault(InvalidInput):
    """A table, entity or access pattern is declared wrongly; the message names the fix."""


class CursorInvalid(InvalidInput):
    """A page cursor was damaged, or belongs to another question."""


class InvalidRequest(InvalidInput):
    """The request breaks one of DynamoDB's rules."""

    aws_name: ClassVar[str] = "ValidationException"


class ItemCollectionTooLarge(InvalidInput):
    """The items of one partition outgrew what a local index allows."""

    aws_name: ClassVar[str] = "ItemCollectionSizeLimitExceededException"


class AccessRefused(NotAllowed):
    """The credentials are missing, unknown, or may not do this."""

    aws_name: ClassVar[str] = "UnrecognizedClientException"


class TableNotFound(NotFound):
    """There is no table, index or stream of that name."""

    aws_name: ClassVar[str] = "ResourceNotFoundException"


class TableInUse(Conflict):
    """A table of that name exists already, or is being changed."""

    aws_name: ClassVar[str] = "ResourceInUseException"


class ConditionFailed(Conflict):
    """The item was not in the state the write demanded.

    `item` is what was found, if asked for; `found` the same as the entity it is, from a store.
    """

    aws_name: ClassVar[str] = "ConditionalCheckFailedException"

    def __init__(
        self, message: str = "The conditional request failed", item: Item | None = None
    ) -> None:
        super().__init__(message)
        self.item = item
        self.found: object | None = None


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """Why one action of a cancelled transaction stopped it, or `None` when it did not."""

    code: str = "None"
    message: str | None = None
    item: Item | None = None


class TransactionCancelled(Conflict):
    """No action of the transaction was carried out; `reasons` has one entry an action."""

    aws_name: ClassVar[str] = "TransactionCanceledException"

    def __init__(self, reasons: tuple[CancellationReason, ...]) -> None:
        codes = ", ".join(reason.code for reason in reasons)
        super().__init__(
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            f"[{codes}]"
        )
        self.reasons = reasons


class TransactionConflict(Conflict):
    """Another transaction holds one of the items; the same call may pass later."""

    aws_name: ClassVar[str] = "TransactionConflictException"
    retry = True


class TransactionInProgress(Conflict):
    """The same transaction, by its token, is still being carried out."""

    aws_name: ClassVar[str] = "TransactionInProgressException"
    retry = True


class TokenReused(Conflict):
    """The token of an earlier transaction came with another body."""

    aws_name: ClassVar[str] = "IdempotentParameterMismatchException"


class Throttled(LimitReached):
    """The table's capacity is used up for now."""

    aws_name: ClassVar[str] = "ProvisionedThroughputExceededException"


class TooMany(LimitReached):
    """More tables, or more changes to tables at once, than are allowed."""

    aws_name: ClassVar[str] = "LimitExceededException"
    retry = False


class Unprocessed(Unavailable):
    """Part of a batch was not carried out after every retry; `left` holds what remains."""

    aws_name: ClassVar[str] = "InternalServerError"

    def __init__(self, message: str, left: tuple[object, ...]) -> None:
        super().__init__(message)
        self.left = left


class ChangesLost(Conflict):
    """Changes after the consumer's position were trimmed: rebuild from the table, then go on."""

    aws_name: ClassVar[str] = "TrimmedDataAccessException"


class IteratorExpired(InvalidInput):
    """A place in a change stream was held too long to be used."""

    aws_name: ClassVar[str] = "ExpiredIteratorException"


class StoreUnavailable(Unavailable):
    """The store does not answer, is locked, or has no room to write."""

    aws_name: ClassVar[str] = "InternalServerError"


class StoreReadOnly(Unavailable):
    """The store can be read but not written."""

    aws_name: ClassVar[str] = "InternalServerError"
    retry = False


class StoreDamaged(Broken):
    """The stored file cannot be trusted; restore it from a copy."""

    aws_name: ClassVar[str] = "InternalServerError"


class StoreTooNew(Broken):
    """The stored file was written by a newer version of Grandstand."""

    aws_name: ClassVar[str] = "InternalServerError"


class StoredItemInvalid(Broken):
    """A stored item does not have the form its entity declares."""

    aws_name: ClassVar[str] = "InternalServerError"


class LeaseLost(Conflict):
    """The lease is held by another, so nothing may be written in its name."""
