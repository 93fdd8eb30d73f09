"""Requests signed by Amazon's own signer, checked by ours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer, Reply
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.dynamodb_server.sdk_client import refusal, target

SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@pytest.fixture
def clock() -> ManualClock:
    """The front's clock; Amazon's signer has none but the machine's, so that is where it begins."""
    return ManualClock(datetime.now(UTC))


@pytest.fixture
def guarded(embedded: SqliteEngine, clock: ManualClock) -> DynamoDbServer:
    """A front in eu-west-1 that knows one key."""
    return DynamoDbServer(embedded, clock=clock, region="eu-west-1", access_keys={"AKID": SECRET})


def signed(
    *,
    key: str = "AKID",
    secret: str = SECRET,
    region: str = "eu-west-1",
    service: str = "dynamodb",
    body: bytes = b"{}",
) -> dict[str, str]:
    request = AWSRequest(
        "POST",
        "http://127.0.0.1:8000/",
        headers={
            "X-Amz-Target": target("ListTables"),
            "Content-Type": "application/x-amz-json-1.0",
            "Host": "127.0.0.1:8000",
        },
        data=body,
    )
    SigV4Auth(Credentials(key, secret), service, region).add_auth(request)
    return dict(request.headers.items())


def answer(server: DynamoDbServer, headers: dict[str, str], body: bytes = b"{}") -> Reply:
    return server.handle(headers, body)


def test_a_request_signed_with_a_known_key_is_let_through(guarded: DynamoDbServer) -> None:
    reply = answer(guarded, signed())

    assert reply.status == 200


def test_an_unknown_key_is_not_recognised(guarded: DynamoDbServer) -> None:
    found = refusal(answer(guarded, signed(key="STRANGER")))

    assert found.name == "UnrecognizedClientException"
    assert found.message == "The security token included in the request is invalid."


def test_the_wrong_secret_makes_the_wrong_signature(guarded: DynamoDbServer) -> None:
    found = refusal(answer(guarded, signed(secret="guess")))

    assert found.name == "InvalidSignatureException"
    assert found.message.startswith("The request signature we calculated does not match")


def test_a_body_changed_after_signing_is_noticed(guarded: DynamoDbServer) -> None:
    found = refusal(answer(guarded, signed(), b'{"Limit":1}'))

    assert found.name == "InvalidSignatureException"


def test_a_signed_header_changed_after_signing_is_noticed(guarded: DynamoDbServer) -> None:
    found = refusal(answer(guarded, {**signed(), "X-Amz-Target": target("DescribeLimits")}))

    assert found.name == "InvalidSignatureException"


def test_a_key_scoped_to_another_region_is_refused(guarded: DynamoDbServer) -> None:
    found = refusal(answer(guarded, signed(region="us-east-1")))

    assert found.name == "InvalidSignatureException"
    assert found.message == "Credential should be scoped to a valid region, not 'us-east-1'. "


def test_a_key_scoped_to_another_service_is_refused(guarded: DynamoDbServer) -> None:
    found = refusal(answer(guarded, signed(service="s3")))

    assert found.message == "Credential should be scoped to correct service: 'dynamodb'. "


def basic(moment: datetime) -> str:
    """A moment in the one form dates of signatures have."""
    return f"{moment:%Y%m%dT%H%M%SZ}"


def test_an_old_signature_has_expired(guarded: DynamoDbServer, clock: ManualClock) -> None:
    headers = signed()
    clock.advance(16 * 60)

    found = refusal(answer(guarded, headers))

    oldest = clock.now() - timedelta(minutes=15)
    assert found.message == (
        f"Signature expired: {headers['X-Amz-Date']} is now earlier than {basic(oldest)} "
        f"({basic(clock.now())} - 15 min.)"
    )


def test_a_signature_from_the_future_is_refused(
    guarded: DynamoDbServer, clock: ManualClock
) -> None:
    headers = signed()
    clock.advance(-16 * 60)

    found = refusal(answer(guarded, headers))

    newest = clock.now() + timedelta(minutes=15)
    assert found.message == (
        f"Signature not yet current: {headers['X-Amz-Date']} is still later than {basic(newest)} "
        f"({basic(clock.now())} + 15 min.)"
    )


@pytest.mark.parametrize("minutes", [-14, 14])
def test_a_clock_that_is_a_little_wrong_does_not_matter(
    guarded: DynamoDbServer, clock: ManualClock, minutes: int
) -> None:
    headers = signed()
    clock.advance(minutes * 60)

    reply = answer(guarded, headers)

    assert reply.status == 200


def test_a_date_of_another_form_is_incomplete(guarded: DynamoDbServer) -> None:
    found = refusal(answer(guarded, {**signed(), "X-Amz-Date": "yesterday"}))

    assert found.name == "IncompleteSignatureException"
    assert found.message.startswith("Date must be in ISO-8601 'basic format'. Got 'yesterday'.")


def test_a_credential_with_too_few_parts_is_incomplete(guarded: DynamoDbServer) -> None:
    headers = signed()
    short = headers["Authorization"].replace("/dynamodb/aws4_request", "")

    found = refusal(answer(guarded, {**headers, "Authorization": short}))

    assert found.name == "IncompleteSignatureException"
    assert found.message.startswith("Credential must have exactly 5 slash-delimited elements")


def test_the_host_must_be_signed(guarded: DynamoDbServer) -> None:
    headers = signed()
    hidden = headers["Authorization"].replace("host;", "")

    found = refusal(answer(guarded, {**headers, "Authorization": hidden}))

    assert found.message == "'Host' must be a 'SignedHeader' in the AWS Authorization."


def test_another_algorithm_is_not_known(guarded: DynamoDbServer) -> None:
    headers = signed()
    other = headers["Authorization"].replace("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA25")

    found = refusal(answer(guarded, {**headers, "Authorization": other}))

    assert found.message == (
        "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). "
    )


def test_a_front_without_a_region_of_its_own_takes_any_region(
    embedded: SqliteEngine, clock: ManualClock
) -> None:
    anywhere = DynamoDbServer(embedded, clock=clock, access_keys={"AKID": SECRET})

    reply = answer(anywhere, signed(region="ap-southeast-2"))

    assert reply.status == 200


def test_without_access_keys_any_signature_is_taken(server: DynamoDbServer) -> None:
    reply = answer(server, signed(key="anyone", secret="anything"))

    assert reply.status == 200
