"""Structured logging, with secrets removed from every text."""

from __future__ import annotations

import json as jsonlib
import logging
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, TextIO, cast
from urllib.parse import quote, quote_plus

from grandstand.core.errors import InvalidInput

if TYPE_CHECKING:
    from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

HIDDEN: Final = "[redacted]"
LEVELS: Final = ("debug", "info", "warning", "error", "critical")

# Replacing anything shorter would make logs unreadable.
_MIN_SECRET_LENGTH: Final = 6
# Below WARNING these log whole URLs or headers, including credentials.
_VERBOSE: Final = ("httpx2", "httpcore2", "hpack", "h2", "websockets", "botocore", "urllib3")

_WORDS: Final = (
    r"(?:passw(?:or)?d|passphrase|secret|api[_-]?key|api[_-]?token|access[_-]?token"
    r"|refresh[_-]?token|id[_-]?token|auth[_-]?token|session[_-]?token|security[_-]?token"
    r"|access[_-]?key(?:[_-]?id)?|private[_-]?key|signature|credential)"
)
_NAMES: Final = rf"[\w.-]{{0,40}}{_WORDS}"
_QUERY_NAMES: Final = rf"(?:{_NAMES}|key|token|pwd|sig|auth|code|csrf|state|session)"
_LINES: Final = r"(?:proxy-)?authorization|(?:set-)?cookie"
_VALUE: Final = r"""(?:b?"[^"\r\n]*"|b?'[^'\r\n]*'|[^\s,;&"'<>(){}\[\]]+)"""

# As in `name: value`, `"name": "value"`, `name=value`, and `(b'name', b'value')`.
_BETWEEN: Final = r"""(?:["']?\s*[:=]\s*|["']\s*,\s*)"""

_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"(\b[a-z][a-z0-9+.-]{0,20}://)[^/?#\s\"'<>]*@", rf"\1{HIDDEN}@"),
        (r"\beyJ[\w-]{4,}(?:\.[\w-]*){1,4}", HIDDEN),
        (r"\b(bearer|basic|digest|negotiate)(\s+)[\w.~+/=-]{8,}", rf"\1\2{HIDDEN}"),
        (r"\bgs_[\w-]{6,}", HIDDEN),
        (r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b", HIDDEN),
        (r"\bsk-[\w-]{12,}", HIDDEN),
        (
            rf"(\b(?:{_LINES}){_BETWEEN})(?:b?\"[^\"\r\n]*\"|b?'[^'\r\n]*'|[^\r\n\"']+)",
            rf"\1{HIDDEN}",
        ),
        (rf"([?&;]{_QUERY_NAMES}=)[^&;#\s\"'<>]*", rf"\1{HIDDEN}"),
        (rf"({_WORDS}{_BETWEEN}){_VALUE}", rf"\1{HIDDEN}"),
    )
)
_SECRET_NAME: Final = re.compile(
    rf"(?:{_NAMES}|{_LINES}|token|pwd|csrf|cookies|.*_token)\Z", re.IGNORECASE
)
_known: Final[set[str]] = set()


def register_secrets(*secrets: str) -> None:
    """Redact these secrets from all texts from now on, in every common encoding."""
    for secret in secrets:
        _known.update(_forms(secret))


def redact(text: str, *secrets: str) -> str:
    """Return the text without known secrets and anything that looks like one."""
    all_secrets = _known.union(*map(_forms, secrets))
    lowered = text.lower()
    for secret in sorted(all_secrets, key=len, reverse=True):
        # Libraries write hosts in lower case.
        if secret.lower() in lowered:
            text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
    for pattern, put in _PATTERNS:
        text = pattern.sub(put, text)
    return text


def _forms(secret: str) -> set[str]:
    """Return a secret as written in URLs, in JSON, by Python's repr, and line by line."""
    forms = {secret, quote(secret, safe=""), quote_plus(secret), *secret.splitlines()}
    forms |= {jsonlib.dumps(secret)[1:-1], repr(secret)[1:-1], repr(secret.encode())[2:-1]}
    return {form for form in forms if len(form) >= _MIN_SECRET_LENGTH}


def configure_logging(
    stream: TextIO, *, json: bool, level: str = "info", secrets: Iterable[str] = ()
) -> None:
    """Send all logs, including those of libraries, to a stream as text or JSON lines.

    Raises InvalidInput if the level is unknown.
    """
    import structlog

    if level not in LEVELS:
        raise InvalidInput(f"Unknown log level {level!r}. Use one of {', '.join(LEVELS)}")
    register_secrets(*secrets)
    lowest = logging.getLevelNamesMapping()[level.upper()]
    steps = _steps()
    structlog.configure(
        processors=[*steps, _renderer(json=json, stream=stream)],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    _take_over_libraries(stream, steps, lowest, json=json)


def get_logger(name: str, **values: str) -> FilteringBoundLogger:
    """Return a logger that adds a component name and values to every line."""
    import structlog

    return cast("FilteringBoundLogger", structlog.get_logger(part=name, **values))


def without_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Redact every value of a log line (a structlog processor)."""
    return {redact(str(name)): _clean(value, str(name)) for name, value in event.items()}


def _clean(value: object, name: str = "") -> object:
    if value is None or isinstance(value, bool | int | float):
        return HIDDEN if value is not None and _SECRET_NAME.match(name) else value
    if _SECRET_NAME.match(name):
        return HIDDEN
    if isinstance(value, Mapping):
        return {redact(str(key)): _clean(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if len(value) == 2 and isinstance(value[0], str | bytes):
            header = value[0].decode("latin-1") if isinstance(value[0], bytes) else value[0]
            return [redact(header), _clean(value[1], header)]
        return [_clean(item) for item in value]
    if isinstance(value, bytes):
        return redact(value.decode("utf-8", "replace"))
    return redact(str(value))


def _steps() -> list[Processor]:
    import structlog

    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        without_secrets,
    ]


def _renderer(*, json: bool, stream: TextIO) -> Processor:
    import structlog

    if json:
        return structlog.processors.JSONRenderer(ensure_ascii=False)
    return structlog.dev.ConsoleRenderer(
        colors=stream.isatty(),
        timestamp_key="at",
        exception_formatter=structlog.dev.plain_traceback,
    )


def _take_over_libraries(
    stream: TextIO, steps: list[Processor], lowest: int, *, json: bool
) -> None:
    import structlog

    def add_origin(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        record: logging.LogRecord = event["_record"]
        return {**event, "part": record.name, "level": record.levelname.lower()}

    output = Output(stream)
    output.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                add_origin,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *steps[2:],
                _renderer(json=json, stream=stream),
            ],
        )
    )
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if isinstance(each, Output)]:
        root.removeHandler(earlier)
    root.addHandler(output)
    root.setLevel(lowest)
    for name in _VERBOSE:
        logging.getLogger(name).setLevel(max(lowest, logging.WARNING))


class Output(logging.StreamHandler[TextIO]):
    """The handler that `configure_logging` installed, so that the next call can replace it."""
