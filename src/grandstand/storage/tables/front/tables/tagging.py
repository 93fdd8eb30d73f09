"""Kept here: tags on tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grandstand.storage.tables.errors import InvalidRequest, TableNotFound
from grandstand.storage.tables.front.faults import invalid
from grandstand.storage.tables.front.members.common import ARN
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.front.tables.describing import TAGS, keep, setting
from grandstand.storage.tables.schema import TableDescription

_MOST: Final = 50
_ALLOWED: Final = re.compile(r"[\w\s.:/=+@-]*")


def tag_resource(service: Service, request: Request) -> None:
    """Put tags on a table, over those of the same key; raise InvalidRequest or TableNotFound."""
    table = _tagged(service, request)
    if not request["Tags"]:
        raise InvalidRequest("Atleast one Tag needs to be provided as Input.")
    keep(service, table, {TAGS: checked_tags(request["Tags"], setting(table, TAGS) or {})})


def untag_resource(service: Service, request: Request) -> None:
    """Take tags off a table; raise InvalidRequest or TableNotFound."""
    table = _tagged(service, request)
    if not request["TagKeys"]:
        raise InvalidRequest("Atleast one Tag Key needs to be provided as Input.")
    gone = set(request["TagKeys"])
    tags = setting(table, TAGS) or {}
    keep(service, table, {TAGS: {key: value for key, value in tags.items() if key not in gone}})


def list_tags_of_resource(service: Service, request: Request) -> Answer:
    """List a table's tags; raise InvalidRequest or TableNotFound."""
    tags = setting(_tagged(service, request), TAGS) or {}
    return {"Tags": [{"Key": key, "Value": tags[key]} for key in sorted(tags)]}


def checked_tags(given: Sequence[Mapping[str, Any]], present: Mapping[str, str]) -> dict[str, str]:
    """Answer the tags with the given ones added; raise InvalidRequest when that is not allowed."""
    keys = [tag["Key"] for tag in given]
    if len(set(keys)) != len(keys):
        raise invalid("Duplicate tag keys are not allowed")
    for tag in given:
        if not (_ALLOWED.fullmatch(tag["Key"]) and _ALLOWED.fullmatch(tag["Value"])):
            raise invalid(
                "Tags may hold letters, digits, white space and the characters . : / = + @ _ -; "
                f"Tag: {tag['Key']}"
            )
    tags = {**present, **{tag["Key"]: tag["Value"] for tag in given}}
    if len(tags) > _MOST:
        raise invalid(f"Too many tags: at most {_MOST} are allowed on a resource")
    return tags


def _tagged(service: Service, request: Request) -> TableDescription:
    arn = request["ResourceArn"]
    if not arn.startswith(ARN):
        raise InvalidRequest(f"Invalid TableArn: ARNs must start with 'arn:': {arn}")
    name = service.table_name(arn)
    try:
        return service.engine.describe_table(name)
    except TableNotFound as missing:
        raise TableNotFound(
            f"Requested resource not found: ResourcArn: {arn} not found"
        ) from missing
