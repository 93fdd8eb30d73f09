"""Find or download the parts named on the command line, or all of them."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.parts import aws_cli, aws_sdk, axe, chromium, dynamodb_local, java, node, postgres
from tests.parts.environment import tidy_environment
from tests.parts.part_cache import MissingPartError, PartCache

_PARTS: dict[str, Callable[[PartCache], object]] = {
    "dynamodb-local": dynamodb_local.find,
    "aws-sdk": aws_sdk.find,
    "awscli": aws_cli.find,
    "postgres": postgres.find,
    "chromium": chromium.find,
    "axe": axe.find,
    "java": java.find,
    "node": node.find,
}


def _find_missing(name: str) -> str | None:
    """Return why a part is missing, or None."""
    try:
        _PARTS[name](PartCache(may_fetch=True))
    except MissingPartError as error:
        return f"grandstand: {error}"
    return None


def main(names: list[str]) -> int:
    """Return 0 if every part is available, 1 if one is missing, 2 for an unknown name."""
    unknown = [name for name in names if name not in _PARTS]
    if unknown:
        sys.stderr.write(f"unknown part: {', '.join(unknown)}. Parts: {', '.join(_PARTS)}\n")
        return 2
    tidy_environment()
    with ThreadPoolExecutor(max_workers=2) as pool:
        missing = [why for why in pool.map(_find_missing, names or list(_PARTS)) if why]
    sys.stderr.write("".join(f"{why}\n" for why in missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
