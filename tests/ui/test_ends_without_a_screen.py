"""A Neovim without a screen ends in order, too."""

import subprocess
import sys
from pathlib import Path

from tests.support.launch import Launch
from tests.support.processes import adopting, command_line, marked, statuses, wait_gone
from tests.ui.test_ends_in_order import AT_ONCE

LOOK = 0.02
"""Seconds between two looks at the processes of a Neovim without a screen."""


def test_nothing_is_left_to_the_guardian_without_a_screen(
    nvim_version: str, quick_demo: list[str], workspace: Path, tmp_path: Path
) -> None:
    run = "lua require('eca.commands.headless').run('run it')"
    launch = Launch(
        version=nvim_version,
        home=tmp_path / "nvim",
        cwd=workspace,
        marker=str(tmp_path),
        settings={"python": sys.executable, "server": {"command": quick_demo}},
        arguments=["-c", run],
        environment={"ECA_APPROVE": "1"},
    )
    launch.prepare()
    command = ["--headless" if it == "--embed" else it for it in launch.command()]
    seen = dict[int, str]()
    with (
        adopting(),
        subprocess.Popen(
            command, cwd=workspace, env=launch.variables(), stdout=subprocess.PIPE
        ) as process,
    ):
        while wait_gone({process.pid}, LOOK):
            seen |= {pid: command_line(pid) for pid in marked(launch.marker) - {process.pid}}
        assert process.stdout is not None
        assert b"Hello, world!" in process.stdout.read()
        assert process.wait() == 0
        left = wait_gone(seen, AT_ONCE)
        ended = statuses({*seen} - left)
    assert not left, [seen[pid] for pid in left]
    [guardian] = [pid for pid, line in seen.items() if "guardian.py" in line]
    assert ended[guardian] == 0, "it had to end something"
