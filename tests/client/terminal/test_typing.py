"""What is typed, key by key and line by line."""

import os
import pty
import termios
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client import Judgement, SkipMode, Verdict
from svddtune.client.terminal.commands import PROBABLY, Action, TerminalCommand, parse_line
from svddtune.client.terminal.keyboard import Keyboard, Typed, has_keys


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)


def typed(pipe: tuple[int, int], data: bytes, *, keys: bool) -> list[Typed]:
    keyboard = Keyboard(pipe[0], keys=keys)
    os.write(pipe[1], data)
    os.close(pipe[1])
    while not keyboard.ended:
        keyboard.read()
    return list(keyboard.waiting)


@pytest.mark.parametrize(
    ("line", "command", "number"),
    [
        ("i", Verdict.INLIER, None),
        ("Outlier", Verdict.OUTLIER, None),
        ("-1", Verdict.OUTLIER, None),
        ("1", Verdict.INLIER, None),
        ("inlier 12", Verdict.INLIER, 12),
        ("1 12", Verdict.INLIER, 12),
        ("l", Judgement(Verdict.OUTLIER, PROBABLY), None),
        ("probably inlier 7", Judgement(Verdict.INLIER, PROBABLY), 7),
        ("probably", None, None),
        ("u", Verdict.UNSURE, None),
        ("undo", Action.UNDO, None),
        ("skip", SkipMode.LATER, None),
        ("skip others 3", SkipMode.OTHERS, 3),
        ("drop", SkipMode.DROP, None),
        ("quit", Action.QUIT, None),
        ("12", None, None),
        ("inlier twelve", None, None),
        ("perhaps", None, None),
        ("", None, None),
    ],
)
def test_line_is_parsed_as_a_command(
    line: str, command: TerminalCommand | None, number: int | None
) -> None:
    assert parse_line(line) == (command, number)


@given(st.text())
def test_parsing_accepts_any_line(line: str) -> None:
    command, number = parse_line(line)
    assert command is None or isinstance(command, Verdict | Judgement | SkipMode | Action)
    assert number is None or number >= 0


def test_keys_are_commands_and_arrow_keys_are_ignored(pipe: tuple[int, int]) -> None:
    found = typed(pipe, b"iO\x1b[A\x1b[1;5C\x1bOPz\xc3\xa9j", keys=True)
    assert [one.command for one in found] == [
        Verdict.INLIER,
        Verdict.OUTLIER,
        Action.UNDO,
        None,
        None,
        Action.QUIT,
    ]
    assert [one.text for one in found[3:5]] == ["é", "j"]


def test_lines_are_read_whole_and_the_last_needs_no_line_end(pipe: tuple[int, int]) -> None:
    found = typed(pipe, b"inlier 4\n\n  o \r\nwhat\xff?\nu", keys=False)
    assert found == [
        Typed(Verdict.INLIER, "inlier 4", 4),
        Typed(Verdict.OUTLIER, "o"),
        Typed(None, "what\ufffd?"),
        Typed(Verdict.UNSURE, "u"),
        Typed(Action.QUIT, ""),
    ]


def test_line_in_two_pieces_is_read_as_one(pipe: tuple[int, int]) -> None:
    keyboard = Keyboard(pipe[0], keys=False)
    os.write(pipe[1], b"out")
    keyboard.read()
    assert not keyboard.waiting
    os.write(pipe[1], b"lier\n")
    keyboard.read()
    os.close(pipe[1])
    assert [one.command for one in keyboard.waiting] == [Verdict.OUTLIER]


def test_terminal_settings_are_restored() -> None:
    master, slave = pty.openpty()
    try:
        before = termios.tcgetattr(slave)
        assert has_keys(slave)
        with Keyboard(slave, keys=True).raw():
            flags = termios.tcgetattr(slave)[3]
            assert not flags & (termios.ECHO | termios.ICANON)
            assert flags & termios.ISIG  # Ctrl-C stays a signal
        assert termios.tcgetattr(slave) == before
    finally:
        os.close(slave)
        os.close(master)


def test_pipe_is_read_by_lines(pipe: tuple[int, int]) -> None:
    os.close(pipe[1])
    assert not has_keys(pipe[0])
    with Keyboard(pipe[0], keys=False).raw():
        pass
