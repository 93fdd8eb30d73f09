"""What is answered before an operation is looked at, and how answers are dressed."""

from __future__ import annotations

import gzip
import zlib

import pytest

from grandstand.storage.tables.dynamodb_server.server import MAX_BODY, DynamoDbServer
from tests.storage.tables.dynamodb_server.sdk_client import (
    SIGNED,
    ApiCaller,
    Refusal,
    refusal,
    target,
)

LIST = {**SIGNED, "X-Amz-Target": target("ListTables")}


def refused(server: DynamoDbServer, headers: dict[str, str], body: bytes) -> Refusal:
    return refusal(server.handle(headers, body))


def without(name: str) -> dict[str, str]:
    return {header: value for header, value in LIST.items() if header != name}


def test_every_answer_carries_its_checksum_its_length_and_an_id(server: DynamoDbServer) -> None:
    reply = server.handle(LIST, b"{}")

    headers = dict(reply.headers)
    assert headers["x-amz-crc32"] == str(zlib.crc32(reply.body))
    assert headers["content-length"] == str(len(reply.body))
    assert headers["content-type"] == "application/x-amz-json-1.0"
    assert len(headers["x-amzn-requestid"]) == 52


def test_two_requests_have_different_ids(server: DynamoDbServer) -> None:
    ids = {dict(server.handle(LIST, b"{}").headers)["x-amzn-requestid"] for _ in range(2)}

    assert len(ids) == 2


def test_header_names_are_read_in_any_case(server: DynamoDbServer) -> None:
    shouted = {name.upper(): value for name, value in LIST.items()}

    reply = server.handle(shouted, b"{}")

    assert reply.status == 200


@pytest.mark.parametrize("name", ["DynamoDB_20120810.Nonsense", "DynamoDB_20111205.ListTables", ""])
def test_an_operation_nobody_knows_is_an_unknown_operation(
    server: DynamoDbServer, name: str
) -> None:
    found = refused(server, {**LIST, "X-Amz-Target": name}, b"{}")

    assert found.body == {"__type": "com.amazon.coral.service#UnknownOperationException"}


@pytest.mark.parametrize(
    "name", ["ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"]
)
def test_partiql_is_refused_with_what_to_use_instead(server: DynamoDbServer, name: str) -> None:
    found = refused(server, {**LIST, "X-Amz-Target": target(name)}, b"{}")

    assert found.name == "UnknownOperationException"
    assert "Use the item operations, Query or Scan" in found.message


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b'"x"', b'{"a"}', b"\xff", b"{" * 10_000, b"null"]
)
def test_what_is_not_a_json_object_cannot_be_read(server: DynamoDbServer, body: bytes) -> None:
    found = refused(server, LIST, body)

    assert found.name == "SerializationException"


def test_json_nested_beyond_reason_is_refused_and_not_fatal(
    server: DynamoDbServer, call: ApiCaller
) -> None:
    call.table("deep")
    nested = b'{"M":{"a":' * 100_000 + b"{}" + b"}}" * 100_000
    body = b'{"TableName":"deep","Item":{"p":{"S":"x"},"a":' + nested + b"}}"

    found = refused(server, {**SIGNED, "X-Amz-Target": target("PutItem")}, body)

    assert found.name in ("SerializationException", "ValidationException")


def test_a_body_of_another_type_is_an_unknown_operation(server: DynamoDbServer) -> None:
    found = refused(server, {**LIST, "Content-Type": "text/html"}, b"{}")

    assert found.name == "UnknownOperationException"


def test_a_body_over_sixteen_megabytes_is_too_large(server: DynamoDbServer) -> None:
    reply = server.handle(LIST, b" " * (MAX_BODY + 1))

    assert reply.status == 413
    assert refusal(reply).name == "RequestEntityTooLargeException"


def test_a_gzip_body_is_read(server: DynamoDbServer) -> None:
    body = gzip.compress(b"{") + gzip.compress(b"}")

    reply = server.handle({**LIST, "Content-Encoding": "gzip"}, body)

    assert reply.status == 200


@pytest.mark.parametrize(
    "body", [b"{}", b"", gzip.compress(b"{}")[:-1], gzip.compress(b"{}") + b"junk"]
)
def test_a_body_that_is_not_the_gzip_it_says_is_an_internal_error(
    server: DynamoDbServer, body: bytes
) -> None:
    reply = server.handle({**LIST, "Content-Encoding": "gzip"}, body)

    assert reply.status == 500


def test_a_gzip_body_of_very_many_members_is_not_read_to_its_end(server: DynamoDbServer) -> None:
    body = gzip.compress(b"") * 100_000 + gzip.compress(b"{}")

    reply = server.handle({**LIST, "Content-Encoding": "gzip"}, body)

    assert reply.status == 500
    assert b"too many members" in reply.body


def test_a_small_gzip_body_that_swells_beyond_the_limit_is_too_large(
    server: DynamoDbServer,
) -> None:
    body = gzip.compress(b" " * (MAX_BODY + 1))

    reply = server.handle({**LIST, "Content-Encoding": "gzip"}, body)

    assert reply.status == 413


def test_an_encoding_nobody_knows_is_an_internal_error(server: DynamoDbServer) -> None:
    reply = server.handle({**LIST, "Content-Encoding": "garbage"}, b"{}")

    assert reply.status == 500


def test_a_request_without_authorization_is_told_so(server: DynamoDbServer) -> None:
    found = refused(server, without("Authorization"), b"{}")

    assert found.body == {
        "__type": "com.amazon.coral.service#MissingAuthenticationTokenException",
        "message": "Request is missing Authentication Token",
    }


def test_another_scheme_of_authorization_counts_as_none(server: DynamoDbServer) -> None:
    found = refused(server, {**LIST, "Authorization": "Bearer x"}, b"{}")

    assert found.name == "MissingAuthenticationTokenException"


def test_every_missing_part_of_the_authorization_is_named(server: DynamoDbServer) -> None:
    headers = {**without("X-Amz-Date"), "Authorization": "AWS4-HMAC-SHA256 Credential=a"}

    found = refused(server, headers, b"{}")

    assert found.name == "IncompleteSignatureException"
    assert found.message == (
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-HMAC-SHA256 Credential=a"
    )


def test_an_unknown_operation_is_told_before_a_missing_signature(server: DynamoDbServer) -> None:
    headers = {"Content-Type": "application/json", "X-Amz-Target": "DynamoDB_20120810.Nope"}

    found = refused(server, headers, b"{}")

    assert found.name == "UnknownOperationException"
