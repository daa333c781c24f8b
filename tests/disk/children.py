"""Processes that replace a file under bad conditions: a kill, a limit, another user."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.launch import REPOSITORY

_PRELUDE = """
import os, resource, signal, sys, tempfile  # another user may not be able to load it later
from eca_nvim.disk import replacing
place, content, number = sys.argv[1], os.fsencode(sys.argv[2]), int(sys.argv[3])
"""
KILLED = """
STEPS = ("open", "mkdir", "write", "fchmod", "fsync", "link", "rename", "ftruncate", "unlink")
seen = 0

def at_a_step(step):
    def do(*given, **named):
        global seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*given, **named)
    return do

for name in STEPS:
    setattr(os, name, at_a_step(getattr(os, name)))
"""
"""Ends before the step of that number."""
HALF = """
whole = os.write
os.write = lambda file, left: whole(file, left[:4096])
"""
"""Writes in pieces, so that there are steps with half a file. To be put before `KILLED`."""
LIMITED = """
resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
"""
"""May write so many bytes of a file, as if the disk were full then."""
AS_USER = """
os.setgid(number)
os.setuid(number)
"""
"""Runs with the rights of that user; root only."""
_REPLACE = """
try:
    replacing.replace(place, content, 0o644)
except OSError as fault:
    print(type(fault).__name__, fault.strerror)
"""


def replace(place: Path, content: str, meeting: str = "", number: int = 0) -> tuple[int, str]:
    """Replace a file in a process that meets with something; give its status and the fault."""
    code = _PRELUDE + meeting + _REPLACE
    run = subprocess.run(
        [sys.executable, "-c", code, str(place), content, str(number)],
        env={"PYTHONPATH": str(REPOSITORY / "rplugin" / "python3")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert run.stderr == ""
    return run.returncode, run.stdout.strip()
