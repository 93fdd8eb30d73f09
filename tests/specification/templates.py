"""What a key template such as `GAME#{game_id}` says: its placeholders and the texts it fits."""

import re

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def placeholders(template: str) -> tuple[str, ...]:
    """The names between braces, in order."""
    return tuple(_PLACEHOLDER.findall(template))


def fields_of(template: str, text: str) -> dict[str, str] | None:
    """What each placeholder stands for in `text`, or None when the template does not fit.

    A value holds no `#`, the separator of every specified key.
    """
    names = placeholders(template)
    literals = _PLACEHOLDER.split(template)[::2]
    found = re.fullmatch("([^#]+)".join(re.escape(literal) for literal in literals), text)
    return None if found is None else dict(zip(names, found.groups(), strict=True))


def slug(name: str) -> str:
    """A name as it is written in a key: `Los Angeles Lakers` is `los_angeles_lakers`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
