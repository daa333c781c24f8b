"""`python -m tests.fuzz.whole VERSION MESSAGES SEED [BATCH]`: changed recordings in a whole plugin.

One Neovim and its host live as long as all of it. At each prompt a server in a process of its own
(`player.py`) plays a changed recording (`whole_runs.py`), while the user answers what is asked and
looks at what there is. After a batch of them nothing of ours may have failed, the host must be the
same, and a plain prompt must be answered on the screen. A seed makes the same batches again, and
BATCH is the first that is played. The last line says how many messages the servers have said.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.fuzz.whole_runs import BEGINNINGS, Run, changed_answer, changed_run
from tests.soak import chats, editing
from tests.soak.life import CHOOSE
from tests.soak.rest import CLOSE, DELETE, STOP
from tests.soak.user import Action, Fault, User
from tests.support.autocommands import WATCHED
from tests.support.client import EditorError
from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY, Launch
from tests.support.workspace import make_workspace

Value: TypeAlias = Any

FOUND: Final = REPOSITORY / ".cache" / "fuzz" / "found"
BATCH: Final = 8
"""Recordings between two looks at the plugin."""
RENEWED: Final = 4
"""Pairs of batches until a server starts whose first answer is odd."""
BYTES: Final = 1 << 14
"""Bytes that change a recording."""
PATIENCE: Final = 30.0
"""Seconds that a run may take, or a plain answer, or the start of a server."""
UNPLAYED: Final = 4.0
"""Seconds until a prompt that an odd session has refused is given up."""
FAULTS: Final = re.compile(
    r"Traceback|stack traceback|the agent's code failed|the plugin host failed"
    r"|cannot (?:draw|do|read|send) .*"
)
"""What the log says of faults of ours; what is refused is no fault."""
CODE: Final = "import sys; sys.path[:0] = [sys.argv.pop(1)]; from {} import main; main()"
MODULE: Final = "tests.fuzz.player"
LOG: Final = "return require('eca.host.log').path()"
STATE: Final = "return require('eca.state.mirror').server(...).state"
SEND: Final = "return require('eca').send(...)"
PENDING: Final = "return #require('eca').pending()"
OPEN: Final = "require('eca').open({ chat = ... })"
LOOKS: Final = (
    *("mcp", "tools", "providers", "jobs", "usage", "tasks", "files", "changes", "plan", "server"),
    *("options", "chats", "dashboard", "contexts", "trace", "review", "diff"),
)


def look(user: User) -> None:
    """Show a list or a panel of what the server has said, and leave it."""
    user.eca(user.one_of(LOOKS))
    user.keys(user.one_of(("jjk", "G<CR>", "<Tab>", "")))
    user.keys("<Esc>")
    user.normal()
    if "eca://panel" in user.current()[2]:
        user.keys("q")
    user.ex("silent! cclose")


ACTIONS: Final = (
    *(Action(6, look), Action(4, chats.read), Action(1, chats.type_prompt)),
    *(Action(2, editing.rewrite), Action(2, editing.complete), Action(1, editing.edit)),
    Action(1, chats.history),
)
"""What the user does beside answering."""


class Whole:
    """A plugin, and what its servers say."""

    def __init__(self, version: str, seed: int, home: Path) -> None:
        self._seed, self._home = seed, home
        self._project = make_workspace(home / "project")
        for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm one"):
            subprocess.run(["git", *line.split()], cwd=self._project, check=True)
        self._user = User(Neovim(self._launch(version)), home / "nvim")
        self._user.nvim.check_errors = False
        self._user.nvim.keys(":EcaChat<CR>")
        self._host = self._user.nvim.wait_for(self._user.host, "the host")
        self._log = Path(self._user.lua(LOG))
        self._chat: str | None = None
        self._read = self._number = self.messages = self.unplayed = 0
        self.batch: list[Run] = []

    def _launch(self, version: str) -> Launch:
        servers: dict[str, Value] = {}
        for name in ("eca", "acp"):
            folder = self._home / name
            folder.mkdir()
            (folder / "journal").touch()
            code = CODE.format(MODULE)
            command = [sys.executable, "-I", "-c", code, str(REPOSITORY), name, str(folder)]
            servers[name] = {"command": command, "protocol": name}
        del servers["eca"]["protocol"]
        settings = {"python": sys.executable, "server": "eca", "servers": servers}
        settings |= {"approval": {"guard": 0}, "completion": {"inline": True}}
        mine, init = self._home / "nvim", WATCHED + CHOOSE
        return Launch(version, mine, self._project, str(mine), 120, 40, settings, init)

    # --- playing ---------------------------------------------------------------------------------

    def play(self, number: int) -> list[str]:
        """Play a batch, and return what is wrong afterwards."""
        protocol = ("eca", "acp")[number % 2]
        self.batch, self._chat = [], None
        try:
            if number // 2 % RENEWED == RENEWED - 1:
                self._renew(protocol, number)
            for run in range(number * BATCH, number * BATCH + BATCH):
                self._number = run
                self._play(protocol)
            return self._judge(protocol)
        except (EditorError, AssertionError) as fault:  # what was waited for in vain
            return [f"{type(fault).__name__}: {fault}", *self._logged(), *self._user.errors()]

    def _bytes(self, what: str) -> bytes:
        return random.Random(f"{self._seed} {self._number} {what}").randbytes(BYTES)

    def _renew(self, protocol: str, number: int) -> None:
        """Start a server whose first answer is odd, and a good one."""
        self._number = number * BATCH
        answer = changed_answer(protocol, "initialize", self._bytes("initialize"))
        (self._home / protocol / "initialize.json").write_text(json.dumps(answer))
        for is_good in (False, True):
            self._user.eca(f"quit! {protocol}")
            self._wait_state(protocol, "stopped", "failed")
            self._user.eca(f"start {protocol}")
            self._wait_state(protocol, *(("ready",) if is_good else ("ready", "failed", "stopped")))

    def _wait_state(self, protocol: str, *states: str) -> None:
        said = f"{protocol} to be {states}"
        self._user.nvim.wait_for(lambda: self._user.lua(STATE, protocol) in states, said, PATIENCE)

    def _play(self, protocol: str) -> None:
        """Have the server play a run, and the user do something meanwhile."""
        user, number, folder = self._user, self._number, self._home / protocol
        run = changed_run(protocol, self._project, self._bytes("run"))
        self.batch.append(run)
        (folder / f"run-{number}.json").write_text(json.dumps(run.script))
        is_odd = protocol == "acp" and not number % 4
        if is_odd:
            self._chat = None
            answer = changed_answer(protocol, BEGINNINGS[1], self._bytes("session"))
            (folder / "session-new.json").write_text(json.dumps(answer))
        user.chance = random.Random(f"{self._seed} {number} user")
        self._send(f"run {number}", protocol)
        began, acts = time.monotonic(), user.chance.randint(0, 2)
        while not self._is_over(folder, f"run {number}"):
            passed = time.monotonic() - began
            if is_odd and passed > UNPLAYED and not self._is_busy():
                self.unplayed += 1
                break
            if passed > PATIENCE:
                raise Fault(f"run {number} does not end: {user.chats()}")
            if user.lua(PENDING):
                self._act(chats.answer)
            elif acts:
                acts -= 1
                (action,) = user.chance.choices(ACTIONS, [it.weight for it in ACTIONS])
                self._act(action.run)
            else:
                user.nvim.child.channel.pump(0.02)
        else:
            self.messages += run.messages

    def _act(self, action: Value) -> None:
        if wrong := self._user.attempt(action):
            raise Fault("\n".join(wrong))

    def _send(self, text: str, protocol: str) -> None:
        """Send a prompt, in the chat of this batch if it is still there."""
        user = self._user
        user.normal()
        is_there = any(it == self._chat for it, _, _ in user.chats())
        options = {"chat": self._chat} if is_there else {"server": protocol}
        self._chat = user.lua(SEND, text, options)
        user.lua(OPEN, self._chat)

    def _is_busy(self) -> bool:
        return any(it == self._chat and state != "idle" for it, state, _ in self._user.chats())

    def _is_over(self, folder: Path, text: str) -> bool:
        return text in (folder / "journal").read_text().splitlines()[-3:] and not self._is_busy()

    # --- judging ---------------------------------------------------------------------------------

    def _judge(self, protocol: str) -> list[str]:
        user = self._user
        user.normal()
        user.lua(STOP)
        user.nvim.wait_for(
            lambda: all(state == "idle" for _, state, _ in user.chats()), "all to be idle", PATIENCE
        )
        user.lua(CLOSE)
        self._send(text := f"plain {self._number}", protocol)
        user.keys("<Esc><C-w>kG")  # they may have scrolled up
        user.nvim.wait_screen(f"the answer to {text}", PATIENCE)
        wrong = [*user.errors(), *self._logged()]
        if user.host() != self._host:
            wrong.append(f"the host {self._host} is another one: {user.host()}")
        self._forget()
        return wrong

    def _logged(self) -> list[str]:
        """Return what is new in the log, if it has a fault of ours."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        new, self._read = text[self._read :], len(text)
        return [new[-8000:]] if FAULTS.search(new) else []

    def _forget(self) -> None:
        """Delete all chats: else the last batch is slower than the first."""
        user, deadline = self._user, time.monotonic() + PATIENCE
        user.words.clear()
        user.nvim.command("messages clear")
        told: set[str] = set()
        while left := [it for it, _, _ in user.chats() if it not in told]:
            for chat in left:
                user.lua(DELETE, chat)
            told.update(left)
            user.nvim.child.channel.pump(0.05)
            if time.monotonic() > deadline:
                raise Fault(f"chats come back: {left}")

    def end(self) -> list[str]:
        """Quit, and return what is wrong with that."""
        try:
            self._user.nvim.finish()
        except AssertionError as fault:
            return [f"the end: {fault}"]
        return []

    def keep(self, name: str, wrong: Sequence[str]) -> Path:
        """Keep a finding, with all that the servers said, and return the file."""
        FOUND.mkdir(parents=True, exist_ok=True)
        path = FOUND / f"{name}.json"
        runs = [{"recording": it.recording, **it.script} for it in self.batch]
        path.write_text(json.dumps({"wrong": wrong, "runs": runs}, indent=1))
        return path


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(version: str, messages: int, seed: int, number: int = 0) -> int:
    """Play batches until so many messages were said; return how many have found something."""
    home = Path(tempfile.mkdtemp(prefix="eca-fuzz-"))
    whole, wrong, runs = Whole(version, seed, home), list[str](), 0
    while whole.messages < messages and not wrong:
        wrong = whole.play(number)
        number, runs = number + 1, runs + len(whole.batch)
    if wrong:
        number -= 1
        path = whole.keep(f"whole-{version}-{seed}-{number}", wrong)
        say("\n".join(wrong))
        names = ", ".join(it.recording for it in whole.batch)
        say(f"FOUND seed {seed} batch {number} Neovim {version}: {names}; see {path}")
    wrong += whole.end()
    if not wrong:
        shutil.rmtree(home, ignore_errors=True)
        say(f"{runs} recordings, {whole.unplayed} refused with their session, seed {seed}")
        say(f"Done {whole.messages} runs")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
