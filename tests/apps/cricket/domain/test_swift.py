"""The Swift file has a property for every field that is pushed, of the right type."""

from dataclasses import fields

from grandstand.apps.cricket.domain.display import (
    ATTRIBUTES_TYPE,
    UnifiedDisplayState,
    swift_source,
)
from grandstand.apps.cricket.domain.match_events import EVENT_KINDS
from grandstand.core.formatting import camel_case


def test_every_field_of_the_state_is_declared() -> None:
    source = swift_source()

    names = [camel_case(each.name) for each in fields(UnifiedDisplayState)]
    assert [name for name in names if f"public var {name}: " not in source] == []


def test_types_are_those_swift_decodes_by_itself() -> None:
    source = swift_source()

    assert f"public struct {ATTRIBUTES_TYPE}: ActivityAttributes {{" in source
    assert "public var updatedAt: Int\n" in source
    assert "public var teams: [Team]\n" in source
    assert "public var striker: Batter?\n" in source
    assert "public var thisOver: [String]\n" in source
    assert "public var phase: String\n" in source


def test_braces_are_balanced_and_every_kind_of_event_is_a_case() -> None:
    source = swift_source()

    assert source.count("{") == source.count("}")
    assert [kind for kind in EVENT_KINDS if f'= "{kind}"' not in source] == []
