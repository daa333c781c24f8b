"""Finding and ending processes, orphans among them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest
from tests.support.processes import MARKER, command_line, descendants, end, marked, wait_gone

GRANDPARENT = "import subprocess; subprocess.run(['sleep', '60'])"
DESERTER = """
import subprocess
child = subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL)
while not open(f'/proc/{child.pid}/environ').read():  # it has none yet when it is started
    pass
print(child.pid)
"""


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that has a child."""
    with subprocess.Popen([sys.executable, "-c", GRANDPARENT]) as process:
        while not descendants(process.pid):
            assert process.poll() is None
        yield process
        end(descendants(process.pid) | {process.pid})


def test_descendants_of_any_depth(parent: subprocess.Popen[bytes]) -> None:
    assert parent.pid in descendants(os.getpid())
    child = descendants(parent.pid)
    assert child < descendants(os.getpid())
    assert len(child) == 1


def test_end_kills_and_waits(parent: subprocess.Popen[bytes]) -> None:
    pids = descendants(parent.pid) | {parent.pid}
    assert wait_gone(pids, timeout=0) == pids
    end(pids)
    assert wait_gone(pids, timeout=0) == set()
    assert descendants(parent.pid) == set()


def test_a_marker_finds_those_whose_parent_left() -> None:
    marker = uuid4().hex
    environment = {**os.environ, MARKER: marker}
    done = subprocess.run(
        [sys.executable, "-c", DESERTER], env=environment, stdout=subprocess.PIPE, check=True
    )
    orphan = int(done.stdout)
    assert marked(marker) == {orphan}
    assert marked(marker[:-1]) == set()
    assert command_line(orphan).endswith("sleep 60")
    end([orphan])
    assert marked(marker) == set()
    assert command_line(orphan) == ""
