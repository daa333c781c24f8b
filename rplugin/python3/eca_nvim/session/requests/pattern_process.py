"""Pattern process: a separate program that searches lines for a regular expression.

The user's pattern may backtrack for ever: here it blocks nothing else, and an alarm ends it, also
after the host. It is run by its path and imports only the standard library.
"""

import json
import re
import signal
import sys

SECONDS = 3
"""Seconds until the alarm."""
FAULT, MATCHES, MORE = "fault", "matches", "more"


def match(pattern: str, lines: list[str], most: int) -> dict[str, object]:
    """Return the lines that match, each as (line, character), 0-based; or the pattern's fault.

    A pattern in lower case ignores case. most: how many matches are returned; the rest is counted.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE if pattern == pattern.lower() else re.NOFLAG)
    except (re.error, OverflowError, RecursionError) as fault:
        return {FAULT: f"not a regular expression: {fault}"}
    matches = [
        (number, found.start())
        for number, line in enumerate(lines)
        if (found := compiled.search(line)) is not None
    ]
    return {MATCHES: matches[:most], MORE: max(0, len(matches) - most)}


if __name__ == "__main__":
    signal.alarm(SECONDS)  # no handler: the signal ends the process
    json.dump(match(*json.load(sys.stdin)), sys.stdout)
