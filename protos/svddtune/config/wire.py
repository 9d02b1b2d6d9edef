"""Settings as a message and back."""

from typing import Any

from svddtune.config.numbers import Numbers
from svddtune.config.table import SETTINGS, SessionConfig
from svddtune.config.words import word_of, words
from svddtune.v1 import config_pb2


def to_proto(config: SessionConfig) -> config_pb2.SessionConfig:
    """Return settings that were checked as a message."""
    message = config_pb2.SessionConfig()
    for setting in SETTINGS.values():
        value = getattr(config, setting.name)
        if setting.is_optional and value is None:
            continue
        if setting.is_list:
            getattr(message, setting.wire[0]).extend(map(str, value))
            continue
        if setting.is_map:
            getattr(message, setting.wire[0]).update(value)
            continue
        if setting.enum is not None:
            value = words(setting.enum)[value]
        parts = value or (0.0, 0.0) if setting.is_pair else (value,)
        for name, part in zip(setting.wire, parts, strict=True):
            setattr(message, name, part)
    return message


def from_proto(message: config_pb2.SessionConfig) -> SessionConfig:
    """Return the settings of a message, with defaults for zeros and absent fields, not checked."""
    values: dict[str, Any] = {}
    for setting in SETTINGS.values():
        parts = tuple(getattr(message, name) for name in setting.wire)
        given = message.HasField(setting.wire[0]) if setting.is_optional else any(parts)
        if not given:
            values[setting.name] = setting.default
        elif setting.enum is not None:
            values[setting.name] = word_of(setting.enum, parts[0])
        elif setting.is_list:
            values[setting.name] = tuple(parts[0])
        elif setting.is_map:
            values[setting.name] = Numbers(parts[0])
        else:
            values[setting.name] = parts if setting.is_pair else parts[0]
    return SessionConfig(**values)
