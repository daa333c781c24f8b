"""The scripted server of a soak: it forgets chats when it is asked to, also in between."""

import json
import sys
from pathlib import Path

from tests.support.scripted_server import Performer
from tests.support.wire import Wire


def main() -> None:
    """Run as `script_server.py SCRIPT.json JOURNAL`."""
    script, journal = map(Path, sys.argv[1:3])
    wire = Wire()
    wire.results |= {"chat/delete": {}, "chat/clear": {}, "chat/update": {}}
    with journal.open("a", encoding="utf-8") as received:
        Performer(json.loads(script.read_text(encoding="utf-8")), wire, received).perform()
