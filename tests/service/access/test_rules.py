"""The table of permissions has a line for each call of the protos, and fields that exist."""

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, MethodDescriptor

from svddtune.service.access.caller import ANYBODY, NOBODY, Permission, Role, current
from svddtune.service.access.permissions import RULES
from svddtune.v1 import dataset_pb2, oracle_pb2, scoring_pb2, server_pb2, tuning_pb2

FILES = (dataset_pb2, oracle_pb2, scoring_pb2, server_pb2, tuning_pb2)


def methods() -> Iterator[MethodDescriptor]:
    for file in FILES:
        for service in file.DESCRIPTOR.services_by_name.values():
            yield from service.methods


def names_in(message: Descriptor) -> set[str]:
    """Paths of fields whose names tell that they hold the name of something, one level deep."""
    kinds = {"name", "parent", "session", "sessions", "dataset", "from_session", "model"}
    found = {
        field.name for field in message.fields if field.name in kinds and not field.message_type
    }
    for outer in message.fields:
        if outer.message_type and not outer.is_repeated:
            found |= {
                f"{outer.name}.{field.name}"
                for field in outer.message_type.fields
                if field.name in kinds and not field.message_type
            }
    return found


def test_table_has_exactly_the_calls_of_the_protos() -> None:
    assert RULES.keys() == {method.full_name for method in methods()}


def test_table_names_every_field_that_names_something() -> None:
    checked_later = {
        # Each item of the stream, where it is applied.
        "svddtune.v1.OracleService.Converse": {
            f"{item}.session" for item in ("answer", "skip", "extend", "release", "retract")
        },
        # A filter of the caller's own sessions.
        "svddtune.v1.TuningService.ListSessions": {"dataset"},
        # Of the same value as the field checked, or refused.
        "svddtune.v1.TuningService.UpdateSession": {"session.dataset"},
    }
    for method in methods():
        named = names_in(method.input_type)
        rest = named - set(RULES[method.full_name].names)
        assert rest == checked_later.get(method.full_name, set()), method.full_name
        assert set(RULES[method.full_name].names) <= named


def test_calls_with_a_labeler_of_their_own_take_it_from_the_caller() -> None:
    for method in methods():
        own = method.containing_service.name == "OracleService"
        assert bool(RULES[method.full_name].labeler) == own, method.full_name


def test_only_the_description_of_the_server_is_open() -> None:
    opened = {name for name, rule in RULES.items() if rule.permission is None}
    assert opened == {"svddtune.v1.ServerService.GetServerInfo"}


def test_roles_hold_what_they_are_for() -> None:
    assert not any(Role.NONE.may(one) for one in Permission)
    assert all(Role.ADMIN.may(one) for one in Permission)
    assert not Role.LABELER.may(Permission.READ)
    assert not Role.VIEWER.may(Permission.LABEL)
    assert [one for one in Permission if not Role.TUNER.may(one)] == [Permission.GOVERN]
    assert list(Role) == sorted(Role)


def test_without_a_call_the_caller_is_anybody() -> None:
    assert current() == ANYBODY
    assert (ANYBODY.known, NOBODY.known) == (False, False)
