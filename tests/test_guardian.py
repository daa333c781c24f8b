"""Ending sessions: all processes, also without /proc, and never those of others."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.processes import descendants, end, wait_gone
from tests.support.scripted_server import STUBBORN_FAMILY

from eca_nvim import guardian, system

DEADLINE = 60.0
NOBODY = 2**22 + 2 * os.getpid()
"""A process id that Linux never gives. Tests at the same time have others: a guardian ends what has
the mark of its host. The next number is nobody's, too."""


@pytest.fixture(params=["/proc", "ps"])
def table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find processes as on Linux, and as where there is no /proc."""
    if request.param == "ps":
        if shutil.which("ps") is None:
            pytest.skip("there is no ps")
        monkeypatch.setattr(system, "HAS_PROC", False)


@pytest.fixture
def leader() -> Iterator[int]:
    """Start a session that ignores SIGTERM: this leader, and a child in a group of its own."""
    command = [sys.executable, "-I", "-S", "-c", STUBBORN_FAMILY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        members = family(process.pid)
        yield process.pid
        end(members)


def family(leader: int) -> set[int]:
    """Return a process and all below it."""
    return {leader} | descendants(leader)


@pytest.mark.usefixtures("table")
def test_all_groups_of_a_session_end(leader: int) -> None:
    members = family(leader)
    assert len(members) == 2
    assert guardian.groups({leader}) == {leader: members}
    guardian.end_sessions([leader, NOBODY])
    assert not wait_gone(members, DEADLINE)


@pytest.mark.usefixtures("table")
def test_processes_are_told_apart_by_their_start(leader: int) -> None:
    assert system.start_time(leader) == system.start_time(leader)
    assert system.start_time(leader) != system.start_time(1)
    assert system.start_time(NOBODY) is None


SPAWNS = """
import subprocess, sys
output = subprocess.PIPE if sys.argv[1] == 'read' else subprocess.DEVNULL
child = subprocess.Popen(['sleep', '99'], start_new_session=True, stdout=output, stderr=output)
while not open(f'/proc/{child.pid}/environ').read():  # it has none yet when it is started
    pass
print(child.pid, flush=True)
input()
"""
"""A server that runs a command in a session of its own."""


def named(*leaders: int) -> int:
    """Return the reading end of a pipe whose writer has named sessions and is gone."""
    reading, writing = os.pipe()
    for leader in leaders:
        os.write(writing, leader.to_bytes(guardian.ID_BYTES, sys.byteorder))
    os.close(writing)
    return reading


def test_a_session_that_was_named_ends_when_its_host_is_gone(leader: int) -> None:
    members = family(leader)
    guardian.guard(named(leader), NOBODY)
    assert not wait_gone(members, DEADLINE)


def test_it_says_whether_it_had_to_end_something(leader: int) -> None:
    assert guardian.guard(named(leader), NOBODY)
    assert not guardian.guard(named(leader), NOBODY)


@pytest.mark.skipif(not system.HAS_PROC, reason="there is no /proc")
def test_what_a_session_runs_in_another_ends_with_it() -> None:
    """Unless nobody was to read its output, or it belongs to another host."""
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", SPAWNS, output],
            env={**os.environ, guardian.MARK: f"{host}.1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for host, output in ((NOBODY, "read"), (NOBODY, "unread"), (NOBODY + 1, "read"))
    ]
    read, *others = (int(it.stdout.readline()) for it in servers if it.stdout)
    guardian.guard(named(servers[0].pid), NOBODY)
    assert not wait_gone({read}, DEADLINE)
    assert wait_gone(others, 0) == set(others)
    end(others)
    for server in servers:
        server.communicate()


def test_a_stranger_with_the_id_of_a_session_stays(
    leader: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = iter(["when it was named", "later"])
    monkeypatch.setattr(system, "start_time", lambda _: next(starts))
    guardian.guard(named(leader), NOBODY)
    assert wait_gone({leader}, 0) == {leader}


@pytest.mark.usefixtures("table")
def test_a_session_that_has_ended_is_forgotten_with_the_next(
    leader: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that is given its id later is a stranger, and has no leader that tells."""
    ended, left = (
        subprocess.Popen(
            ["sh", "-c", command], start_new_session=True, stdout=subprocess.PIPE, text=True
        )
        for command in ("echo", "sleep 99 >/dev/null & echo $!")
    )
    (_, _), (told, _) = ended.communicate(), left.communicate()
    asked: list[set[int]] = []

    def end_none(sessions: set[int]) -> set[int]:
        asked.append(sessions)
        return set()

    monkeypatch.setattr(guardian, "end_sessions", end_none)
    guardian.guard(named(ended.pid, left.pid, leader, guardian.ASKED), NOBODY)
    assert asked == [{left.pid, leader}]
    end({int(told)})


GUARDED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from eca_nvim.nvim.guardian_process import guardian
guardian()
os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_a_stopped_host_is_killed_when_the_other_end_of_its_input_is_gone() -> None:
    package = str(Path(guardian.__file__).parents[1])
    command = [sys.executable, "-I", "-c", GUARDED, package]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as host:
        os.waitid(os.P_PID, host.pid, os.WSTOPPED)
        [of_the_host] = descendants(host.pid)
        assert host.stdin is not None
        host.stdin.write(b"what it will not read")
        host.stdin.close()
        assert host.wait(DEADLINE) == -signal.SIGKILL
        assert not wait_gone({of_the_host}, DEADLINE)


def test_a_host_that_hangs_is_gone_in_five_seconds() -> None:
    """From Neovim's end: the rest of that time is for a busy machine."""
    assert guardian.HOST_EXIT_S + 3 * guardian.GRACE_S < 4


@pytest.mark.usefixtures("table")
def test_a_process_that_has_ended_is_not_waited_for() -> None:
    """Whoever inherits it may take long to look at how it ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert system.start_time(process.pid) is not None
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert system.start_time(process.pid) is None
    process.communicate()


@pytest.mark.usefixtures("table")
def test_a_session_whose_processes_have_ended_is_not_waited_for() -> None:
    command = [sys.executable, "-c", "input()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    assert guardian.groups({process.pid}) == {process.pid: {process.pid}}
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert guardian.groups({process.pid}) == {}
    process.communicate()


def test_many_sessions_are_looked_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat may have run thousands of commands, each in a session of its own."""
    looks = []

    def processes() -> Iterator[int]:
        looks.append(1)
        return iter(())

    monkeypatch.setattr(system, "processes", processes)
    guardian.end_sessions(range(NOBODY, NOBODY + 1000))
    assert len(looks) == 1
