"""Pattern process: a program of its own that looks for a regular expression in lines.

Rules kept here:
- A pattern of the user's own may backtrack for ever: it does so here, where nothing waits for it,
  and the system ends this process when its time is up, whoever else is gone by then.
- It is run by its path, with the standard library alone.
"""

from __future__ import annotations

import json
import re
import signal
import sys

SECONDS = 3
"""How long it may take."""
FAULT, MATCHES, MORE = "fault", "matches", "more"


def match(pattern: str, lines: list[str], most: int) -> dict[str, object]:
    """Give [line number, first character] of the lines that match, or the fault in the pattern.

    Lower case finds either case. most: matches that are given; of others only how many there are.
    """
    try:
        wanted = re.compile(pattern, re.IGNORECASE if pattern == pattern.lower() else re.NOFLAG)
    except (re.error, OverflowError, RecursionError) as fault:
        return {FAULT: f"not a regular expression: {fault}"}
    matches = [
        (number, found.start())
        for number, line in enumerate(lines)
        if (found := wanted.search(line)) is not None
    ]
    return {MATCHES: matches[:most], MORE: max(0, len(matches) - most)}


if __name__ == "__main__":
    signal.alarm(SECONDS)  # nothing is done about it: the system ends the process
    json.dump(match(*json.load(sys.stdin)), sys.stdout)
