"""Whether a command waits for input: what the kernel shows, and what is left to guess."""

import os
import pty
import subprocess
import termios
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.transport.harness import Children

from eca_nvim.transport import terminal, terminal_child


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_a_terminal_set_up_for_keys_or_a_password_waits(ends: tuple[int, int]) -> None:
    ours, theirs = ends
    assert not terminal.waits_for_input(ours, in_line=False)
    usual = termios.tcgetattr(theirs)
    tty.setcbreak(theirs)
    assert terminal.waits_for_input(ours, in_line=False)
    usual[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, usual)
    assert terminal.waits_for_input(ours, in_line=False)


def test_a_program_that_does_not_read_is_only_silent(
    ends: tuple[int, int], children: Children
) -> None:
    ours, theirs = ends
    started = ["python3", "-I", "-S", terminal_child.__file__, "0", "sleep", "300"]
    process = subprocess.Popen(
        started, stdin=theirs, stdout=theirs, env=children.env, start_new_session=True
    )
    wchan = Path(f"/proc/{process.pid}/wchan")
    try:
        while b"sleep" not in Path(f"/proc/{process.pid}/comm").read_bytes():
            pass
        while "nanosleep" not in wchan.read_text():
            pass
        assert not terminal.waits_for_input(ours, in_line=True), "the kernel knows better"
    finally:
        process.kill()
        process.wait()


def test_where_the_kernel_does_not_say_a_line_without_end_is_a_question(
    ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "sleeps_in", lambda _pid: "0")
    assert terminal.waits_for_input(ends[0], in_line=True)
    assert not terminal.waits_for_input(ends[0], in_line=False)
