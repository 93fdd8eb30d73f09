"""Kept here: the access-pattern document of tables, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grandstand.storage.tables.declaration.patterns import Pattern, patterns
from grandstand.storage.tables.declaration.table import Index, Table


def document(tables: Iterable[Table]) -> str:
    """Write one section a table: keys, indexes, entities, access patterns."""
    return "\n\n".join(section(table) for table in tables) + "\n"


def section(table: Table) -> str:
    """Write what one table is and how it is read and written."""
    parts = [f"## {table.name}"]
    if table.purpose:
        parts.append(table.purpose)
    parts.append(_facts(table))
    if table.indexes:
        parts.append(_indexes(table.indexes))
    parts.append(_entities(table))
    parts.append(_patterns(patterns(table)))
    return "\n\n".join(part for part in parts if part)


def _facts(table: Table) -> str:
    rows = [
        ("Partition key", f"`{table.partition}` ({table.types.get(table.partition, 'S')})"),
        (
            "Sort key",
            f"`{table.sort}` ({table.types.get(table.sort, 'S')})" if table.sort else "none",
        ),
        ("Expiry", f"`{table.ttl}`, epoch seconds" if table.ttl else "none"),
        ("Stream", table.stream or "none"),
        ("Capacity", _capacity(table)),
    ]
    return grid(("Of the table", "It is"), rows)


def _capacity(table: Table) -> str:
    if table.capacity is None:
        return "on demand"
    return f"{table.capacity.read_units} reads/s, {table.capacity.write_units} writes/s"


def _indexes(indexes: Sequence[Index]) -> str:
    rows = [
        (
            f"`{index.name}`",
            f"`{index.partition}`",
            f"`{index.sort}`" if index.sort else "–",
            index.projection,
        )
        for index in indexes
    ]
    return grid(("Index", "Partition", "Sort", "Projection"), rows)


def _entities(table: Table) -> str:
    rows = []
    for entity in table.entities:
        plan = entity.__plan__
        for key in (plan.primary, *plan.indexes):
            sort = f"`{key.sort.template.source}`" if key.sort else "–"
            when = f"when `{key.when}`" if key.when else ""
            place = key.index or "table"
            rows.append((plan.name, place, f"`{key.partition.template.source}`", sort, when))
    return grid(("Entity", "In", "Partition", "Sort", "Only"), rows)


def _patterns(known: Sequence[Pattern]) -> str:
    rows = [
        (
            str(number),
            pattern.title,
            pattern.operation,
            pattern.index or "table",
            _condition(pattern),
            f"{pattern.entity}.{pattern.name}",
        )
        for number, pattern in enumerate(known, 1)
    ]
    return grid(("#", "Pattern", "Operation", "On", "Condition", "Name"), rows)


def _condition(pattern: Pattern) -> str:
    told = [f"`{pattern.where}`"] if pattern.where else []
    told += [pattern.order] if pattern.order else []
    told += [f"limit {pattern.limit}"] if pattern.limit else []
    told += [f"filter `{pattern.filter}`"] if pattern.filter else []
    told += [f"if `{pattern.condition}`"] if pattern.condition else []
    return ", ".join(told)


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a Markdown table; nothing when it has no rows."""
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    if not body:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *body])
