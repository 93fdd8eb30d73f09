"""That transactions are all or nothing at a service that has them."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.errors import (
    CancellationReason,
    InvalidRequest,
    TokenReused,
    TransactionCancelled,
)
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Exists,
    Literal,
    Missing,
    Path,
    Sum,
    UpdateNode,
)
from grandstand.storage.tables.requests import (
    CheckItem,
    DeleteItem,
    GetItem,
    PutItem,
    Transaction,
    UpdateItem,
)

BANK: Key = {"pk": "owner", "sk": 0}
BET: Item = {"pk": "owner", "sk": 1, "stake": 5}
AMOUNT = Path(("amount",))
PAY = UpdateNode(sets=((AMOUNT, Sum(AMOUNT, Literal(5), subtract=True)),))
ENOUGH = Compare(">=", AMOUNT, Literal(5))


def test_every_action_of_a_transaction_is_carried_out(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 20}))
    cloud.put(PutItem(table, {"pk": "owner", "sk": 2}))
    cloud.put(PutItem(table, {"pk": "owner", "sk": 3}))

    written = cloud.transact_write(
        Transaction(
            (
                PutItem(table, BET, Missing(Path(("pk",)))),
                UpdateItem(table, BANK, PAY, ENOUGH),
                DeleteItem(table, {"pk": "owner", "sk": 2}),
                CheckItem(table, {"pk": "owner", "sk": 3}, Exists(Path(("pk",)))),
            )
        )
    )

    keys: list[Key] = [{"pk": "owner", "sk": number} for number in (0, 1, 2)]
    found = cloud.transact_get([GetItem(table, key) for key in keys])
    assert len(written) == 4
    assert [one.item for one in found] == [{**BANK, "amount": 15}, BET, None]


def test_a_cancelled_transaction_writes_nothing_and_gives_a_reason_an_action(
    cloud: DynamoEngine, table: str
) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 4}))
    actions = (PutItem(table, BET), UpdateItem(table, BANK, PAY, ENOUGH, show_conflict=True))

    with pytest.raises(TransactionCancelled) as cancelled:
        cloud.transact_write(Transaction(actions))

    assert cancelled.value.reasons == (
        CancellationReason(),
        CancellationReason(
            "ConditionalCheckFailed", "The conditional request failed", {**BANK, "amount": 4}
        ),
    )
    assert cloud.get(GetItem(table, {"pk": "owner", "sk": 1}, consistent=True)).item is None


def test_the_same_token_is_carried_out_once(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, {**BANK, "amount": 20}))
    transaction = Transaction((UpdateItem(table, BANK, PAY),), token=f"once-{table[-12:]}")

    cloud.transact_write(transaction)
    cloud.transact_write(transaction)

    assert cloud.get(GetItem(table, BANK, consistent=True)).item == {**BANK, "amount": 15}


def test_the_same_token_with_another_body_is_refused(cloud: DynamoEngine, table: str) -> None:
    token = f"twice-{table[-12:]}"
    cloud.transact_write(Transaction((PutItem(table, BET),), token))

    with pytest.raises(TokenReused):
        cloud.transact_write(Transaction((PutItem(table, {**BET, "stake": 6}),), token))


def test_two_actions_on_one_item_are_refused(cloud: DynamoEngine, table: str) -> None:
    actions = (PutItem(table, BET), DeleteItem(table, {"pk": "owner", "sk": 1}))

    with pytest.raises(InvalidRequest, match="cannot include multiple operations on one item"):
        cloud.transact_write(Transaction(actions))


def test_a_projection_holds_in_a_transaction_too(cloud: DynamoEngine, table: str) -> None:
    cloud.put(PutItem(table, BET))
    request = GetItem(table, {"pk": "owner", "sk": 1}, projection=(Path(("stake",)),))

    found = cloud.transact_get([request])

    assert [one.item for one in found] == [{"stake": 5}]
