"""In the editor's host: its loop is stopped, not closed, and its exit waits for nothing."""

import subprocess
import sys

from tests.support import processes
from tests.transport.harness import DEADLINE_S, ROOT, Children


def test_a_stubborn_server_does_not_outlive_a_host_whose_loop_was_stopped(
    children: Children,
) -> None:
    host = subprocess.run(
        [sys.executable, "-m", "tests.transport.children.host"],
        env=children.env,
        cwd=ROOT,
        timeout=DEADLINE_S,
        capture_output=True,
        check=True,
    )
    assert int(host.stdout) > 0
    assert not processes.wait_gone(processes.marked(children.marker), DEADLINE_S)
