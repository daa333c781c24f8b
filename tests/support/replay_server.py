"""Play a recorded ECA session back to a live client, as if the real server spoke.

Each line of a recording is `{"t": seconds, "dir": "c2s" | "s2c", "msg": {...}}`, played in order:
at "c2s" the player waits for a message of the same method (or the answer to the same request of the
server), at "s2c" it sends the recorded message. Request ids, chat ids and the workspace folder
("/workspace") differ from run to run and are translated. Requests that do not occur later in the
recording get a default answer at once.

At exit the report has the messages that never came (`missing`), those that were not recorded
(`unexpected`), parameters that matter and differ (`different`), and the number of messages that
came as recorded (`matched`).
"""

import argparse
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from tests.support.recorded_tools import act
from tests.support.recording import Event, Report, Translation, read_recording
from tests.support.wire import Message, Wire


class Player:
    """Plays one recording. `patience`: seconds to wait for an expected message.

    scripts: what its tools do, as for `recorded_tools.act`; None: nothing.
    """

    def __init__(
        self,
        events: list[Event],
        wire: Wire,
        speed: float,
        patience: float,
        scripts: Mapping[str, str] | None = None,
    ) -> None:
        self._events, self._wire, self._scripts = events, wire, scripts
        self._speed, self._patience = speed, patience
        self._held: list[Message] = []
        self._request_ids: dict[str, Any] = {}
        self._translation = Translation()
        self._origin = (time.monotonic(), events[0].time if events else 0.0)
        self._position = 0
        self._left = self._said_farewell = False
        self.report = Report()

    def play(self) -> None:
        """Play the recording, then give default answers until the client disconnects."""
        while self._position < len(self._events) and not self._left:
            self._play(self._events[self._position])
        if not self._left and not self._said_farewell:
            self._linger()

    def final_report(self) -> Report:
        """Return the report; whatever the client has not sent yet is missing."""
        return replace(self.report, missing=[*self.report.missing, *self._expected_names()])

    def _play(self, event: Event) -> None:
        match event.direction:
            case "s2c":
                self._speak(event)
            case "c2s":
                self._listen(event)
        if not self._left:
            self._position += 1

    def _expected_names(self) -> list[str]:
        """Return the names of the messages still expected."""
        events = self._events[self._position :]
        return [event.name for event in events if event.direction == "c2s"]

    def _listen(self, event: Event) -> None:
        live = self._expect(event.message, set(self._expected_names()))
        if live is None:
            if not self._left:
                self.report.missing.append(event.name)
            return
        self.report.matched += 1
        self._said_farewell = event.name == "exit"
        if "id" in event.message and "method" in event.message:
            self._request_ids[json.dumps(event.message["id"])] = live.get("id")
        self._translation.learn(event.message, live)
        self.report.compare(self._translation.apply(event.message), live)
        self._origin = (time.monotonic(), event.time)

    def _expect(self, recorded: Message, upcoming: set[str]) -> Message | None:
        """Wait for the live counterpart; answer other messages, or hold them for their place."""
        for index, held in enumerate(self._held):
            if _matches(recorded, held):
                return self._held.pop(index)
        deadline = time.monotonic() + self._patience
        while message := self._wire.receive(max(0.0, deadline - time.monotonic())):
            if _matches(recorded, message):
                return message
            if message.get("method") == "shutdown":
                self._wire.answer_by_default(message)
                self._left = True
                return None
            if message.get("method") is None or message["method"] in upcoming:
                self._held.append(message)
            else:
                self._answer_unexpected(message)
        self._left = self._wire.closed
        return None

    def _speak(self, event: Event) -> None:
        self._pause_until(event.time)
        message: Message = self._translation.apply(event.message)
        if "method" not in message:
            key = json.dumps(event.message.get("id"))
            if key not in self._request_ids:
                return  # answers a request that this client did not send
            message["id"] = self._request_ids[key]
        if self._scripts is not None:
            act(message, self._scripts)
        self._wire.send(message)

    def _pause_until(self, recorded_time: float) -> None:
        """Wait as long after the client's last message as in the recording, scaled by the speed."""
        started, first = self._origin
        due = started + (recorded_time - first) * self._speed
        if self._speed and (left := due - time.monotonic()) > 0:
            time.sleep(left)

    def _linger(self) -> None:
        while (message := self._wire.receive()) and message.get("method") != "exit":
            if "id" in message and "method" in message:
                self._answer_unexpected(message)

    def _answer_unexpected(self, message: Message) -> None:
        if "id" in message:
            self._wire.answer_by_default(message)
        self.report.unexpected.append(message["method"])


def _matches(recorded: Message, live: Message) -> bool:
    if "method" in recorded:
        return bool(recorded["method"] == live.get("method"))
    return "method" not in live and recorded.get("id") == live.get("id")


def main() -> None:
    """Run as `python -m tests.support.replay_server RECORDING [--speed S] [--report FILE]`."""
    parser = argparse.ArgumentParser(description="Play a recorded ECA session back over stdio.")
    parser.add_argument("recording", type=Path)
    parser.add_argument("--speed", type=float, default=0.0, help="1 keeps pauses, 0 makes none")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--patience", type=float, default=20.0, help="seconds a message may take")
    parser.add_argument("--scripts", type=json.loads, help="what tools do to files")
    options, _servers_own = parser.parse_known_args()
    events = read_recording(options.recording)
    player = Player(events, Wire(), options.speed, options.patience, options.scripts)

    def save() -> None:
        if options.report:
            player.final_report().save(options.report)

    def leave(number: int, _frame: object) -> NoReturn:
        """Save here: a client often closes stdin and sends a signal while `main` saves."""
        save()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
    try:
        player.play()
    except BrokenPipeError:
        player.report.missing.append("client closed its end")
    finally:
        save()


if __name__ == "__main__":
    main()
