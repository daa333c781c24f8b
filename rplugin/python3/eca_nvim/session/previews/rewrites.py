"""Rewrites: has an agent rewrite lines of a buffer, and shows its answer while it comes.

Also shows what an answer's code would change, once the user has said where it goes.

Rules kept here:
- An agent that cannot rewrite is prompted instead, in a session of its own (`session.aside`).
- The time to compare an answer with the old lines is bounded: a long one is shown more rarely.
- A preview ends as ready or failed, whatever happens. One that the user has stopped shows nothing
  more.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import anyio
from msgspec.structs import asdict

from eca_nvim.agents.abilities import AgentLacks, AgentRefused
from eca_nvim.agents.base import Agent, AgentFault
from eca_nvim.chat.text.rewritten import MOST_ANSWER, Hunk, hunks, indented, rewritten
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import events
from eca_nvim.chat.vocabulary.bases import Intent
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import ChatEvent, Role, TextReceived
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.previews import (
    AnswerReplaced,
    AskInPlace,
    FindRisks,
    ListInstructions,
    PreviewState,
    PutText,
    Rewrite,
    SetPreview,
    StopPreview,
)
from eca_nvim.path_risks import PathRisk, is_inside, path_risks, real_path
from eca_nvim.session.aside import Aside
from eca_nvim.session.files.late_contexts import read_late
from eca_nvim.session.previews.meanwhile import Meanwhile
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View, isolated
from eca_nvim.threads import run_in_thread

PACE: Final = 0.08
"""Seconds between two states of an answer that comes."""
MOST_SHOWN: Final = 2000
"""Lines of an unfinished answer that are compared: of a longer one only the whole is."""
SHARE: Final = 10
"""Comparing takes at most one part in so many of the time."""

MOST_INSTRUCTIONS: Final = 20
LONGEST_INSTRUCTION: Final = 1000
_INSTRUCTIONS: Final = ("rewrite", "instructions")

EMPTY: Final = "the answer is empty"
THERE: Final = "the code is there already"
SAME: Final = "the answer changes nothing"
_OUTSIDE: Final = "outside of the workspace"
LONG: Final = "the answer is too long for a rewrite"

_HOW: Final = (
    "Answer with the new text of exactly these lines in one code block, with their indentation, and"
    " nothing else: no explanation, no other lines of the file. Change no file and run no command:"
    " the editor puts your answer in their place."
)
ReadContexts = Callable[[Sequence[object]], Iterable[Context]]
"""Reads the contexts of a prompt, and reports those that cannot be sent."""
_CALLS: Final = (events.ToolPreparing, events.ToolRequested, events.ToolRunning)


class Answer:
    """The answer to one rewrite, while it comes."""

    def __init__(self, old: Sequence[str]) -> None:
        self.old = old
        self.text = ""
        self.is_over = False
        self.lacks_unsaved = False
        """The agent reads from the disk what is around the lines, and that is not all saved."""
        self.changed = anyio.Event()

    def hear(self, event: ChatEvent) -> None:
        """Take a piece of the text; what was said before a call is no part of the answer."""
        match event:
            case TextReceived(role=Role.ASSISTANT, text=text):
                self.text = (self.text + text)[: MOST_ANSWER + 1]
            case AnswerReplaced(text=text):
                self.text = text[: MOST_ANSWER + 1]
            case _ if isinstance(event, _CALLS):
                self.text = ""
            case _:
                return
        self.changed.set()

    def so_far(self) -> tuple[list[Hunk], int]:
        """Return the changes that are known, and how many old lines the answer has reached."""
        new = rewritten(self.text, self.old, is_whole=False)
        found = hunks(self.old, new, is_whole=False)
        shift = sum(len(it.lines) - (it.last - it.first) for it in found)
        return found, max(0, min(len(self.old), len(new) - shift))

    def whole(self) -> list[Hunk]:
        """Return the changes. Raises AgentRefused if there are none."""
        if len(self.text) > MOST_ANSWER:
            raise AgentRefused(LONG)
        new = rewritten(self.text, self.old)
        if not any(line.strip() for line in new):
            raise AgentRefused(EMPTY)
        if not (found := hunks(self.old, new)):
            raise AgentRefused(SAME)
        return found


def _risks(path: str, folders: Sequence[str]) -> Sequence[str]:
    """Return what there is to say of a file, shown after its name; looks at the disk."""
    found = path_risks(path, folders)
    outside = found.pop(PathRisk.OUTSIDE, None) or not is_inside(real_path(path), folders)
    return [*([_OUTSIDE] if outside else []), *(it.value for it in found)]


class Rewrites:
    """Handles the user's requests about rewrites, and about code of answers."""

    def __init__(
        self,
        servers: Servers,
        view: View,
        folders: Callable[[], Sequence[str]],
        read_contexts: ReadContexts,
        meanwhile: Meanwhile,
    ) -> None:
        self._servers = servers
        self._view = view
        self._folders = folders
        self._read_contexts = read_contexts
        self._meanwhile = meanwhile
        self._running: dict[str, anyio.CancelScope] = {}
        self.table: Mapping[type[Intent], Callable[[Any], object]] = {
            Rewrite: self._rewrite,
            FindRisks: self._find_risks,
            PutText: self._put,
            StopPreview: self._stop,
            ListInstructions: self._instructions,
        }

    def _instructions(self, intent: ListInstructions) -> Sequence[str]:
        """Return the last instructions; a new one is saved if it is one line."""
        saved, new = self._servers.persistence, intent.new
        known = [it for it in (saved.kept(*_INSTRUCTIONS) or "").split("\n") if it]
        if new and "\n" not in new and len(new) <= LONGEST_INSTRUCTION:
            known = [new, *(it for it in known if it != new)][:MOST_INSTRUCTIONS]
            saved.keep(*_INSTRUCTIONS, "\n".join(known))
        return known

    async def _find_risks(self, intent: FindRisks) -> Sequence[str]:
        """Return what there is to say of a file."""
        return await run_in_thread(partial(_risks, intent.path, [*self._folders()]))

    def _put(self, intent: PutText) -> None:
        """Show the changes that put a text of the user's choice into their buffer."""
        new = indented([*intent.lines], intent.old)
        found = hunks(intent.old, [*intent.old, *new] if intent.below else new)
        if found:
            self._push(intent.id, PreviewState.READY, Answer(intent.old), found)
        else:
            self._fail(intent.id, THERE)

    def _stop(self, intent: StopPreview) -> None:
        if (scope := self._running.get(intent.id)) is not None:
            scope.cancel()

    async def _rewrite(self, intent: Rewrite) -> None:
        """Show the changes that an agent proposes, or why there are none."""
        answer = Answer(intent.lines)
        scope = self._running[intent.id] = anyio.CancelScope()
        try:
            with scope:
                self._servers.start(partial(self._show, intent.id, answer))
                found = await self._changes(intent, answer)
                self._push(intent.id, PreviewState.READY, answer, found)
            if scope.cancelled_caught and len(answer.text) > MOST_ANSWER:
                raise AgentRefused(LONG)  # noqa: TRY301 - one place says all failures
        except (AgentRefused, AgentFault) as fault:
            self._fail(intent.id, str(fault))
        except Exception:
            self._fail(intent.id, "the plugin failed: see :Eca log")
            raise
        finally:
            answer.is_over = True
            answer.changed.set()
            del self._running[intent.id]

    async def _changes(self, intent: Rewrite, answer: Answer) -> list[Hunk]:
        """Return what an agent proposes. Raises AgentRefused and AgentFault."""
        server = self._servers.get(intent.server)
        agent = await server.process.ready()
        aside = Aside(server, self._folders(), intent.id, answer.hear)
        aside.listen()
        try:
            is_rewriter = await self._ask(agent, intent, aside)
            answer.lacks_unsaved = is_rewriter and intent.modified
            await aside.ended()
        finally:
            self._servers.start(partial(self._close, aside))
        return answer.whole()

    async def _close(self, aside: Aside) -> None:
        with isolated(self._view, "close the session of a rewrite", aside):
            await aside.close()

    async def _ask(self, agent: Agent, wanted: Rewrite, aside: Aside) -> bool:
        """Have an agent begin, or do all of it by a prompt; returns whether it can rewrite."""
        contexts, notices = await read_late(tuple(self._read_contexts(wanted.contexts)))
        self._view.push([Notify("warn", line) for line in notices])
        try:
            if contexts:
                raise AgentLacks("what rewrites in place gets no contexts")  # noqa: TRY301 - as below
            await agent.rewrite(wanted)
        except AgentLacks:
            prompt = Prompt(wanted.id, prompt_of(wanted), tuple(contexts))
            with self._meanwhile.watched(wanted.id, wanted.instruction):
                await aside.ask(agent, prompt)
            return False
        return True

    async def _show(self, preview: str, answer: Answer) -> None:
        """Show an answer while it comes."""
        with isolated(self._view, "show a rewrite", preview):
            while True:
                await answer.changed.wait()
                answer.changed = anyio.Event()
                if answer.is_over:
                    return
                if len(answer.text) > MOST_ANSWER:
                    self._running[preview].cancel()  # it may never end
                    return
                if answer.text.count("\n") > MOST_SHOWN:
                    continue
                began = time.monotonic()
                found, reached = answer.so_far()
                self._push(preview, PreviewState.STREAMING, answer, found, reached)
                await anyio.sleep(max(PACE, SHARE * (time.monotonic() - began)))

    def _push(
        self,
        preview: str,
        state: PreviewState,
        answer: Answer,
        found: Sequence[Hunk],
        reached: int = 0,
    ) -> None:
        tables = [_table(hunk) for hunk in found]
        unseen = answer.lacks_unsaved
        self._view.push([SetPreview(preview, state, tables, reached, unseen=unseen)])

    def _fail(self, preview: str, fault: str) -> None:
        self._view.push([SetPreview(preview, PreviewState.FAILED, fault=one_line(fault))])


def _table(hunk: Hunk) -> Mapping[str, object]:
    table = asdict(hunk)
    return {**table, "old": table.pop("old_parts"), "new": table.pop("new_parts")}


def prompt_of(wanted: Rewrite) -> str:
    """Return the prompt that has an agent rewrite lines which it cannot rewrite in place."""
    what = f"Rewrite {named_lines(wanted)}: {wanted.instruction}"
    return "\n\n".join([what, *passage(wanted), _HOW])


def named_lines(wanted: Rewrite | AskInPlace) -> str:
    """Return the name of the lines that are meant."""
    name = wanted.path or "a text that is in no file"
    first, last = wanted.first, wanted.first + len(wanted.lines) - 1
    return f"line {first} of {name}" if first == last else f"lines {first} to {last} of {name}"


def passage(wanted: Rewrite | AskInPlace) -> Sequence[str]:
    """Return the lines that are meant and those around them, as parts of a prompt."""
    around = [
        f"The lines {where} them, for reference only:\n{fenced(lines, wanted.language)}"
        for where, lines in (("above", wanted.above), ("below", wanted.below))
        if lines
    ]
    return [f"These are the lines:\n{fenced(wanted.lines, wanted.language)}", *around]


def fenced(lines: Sequence[str], language: str) -> str:
    """Return lines in a code block whose fence is in none of them."""
    marks = "```"
    while any(marks in line for line in lines):
        marks += "`"
    return "\n".join([f"{marks}{language}", *lines, marks])
