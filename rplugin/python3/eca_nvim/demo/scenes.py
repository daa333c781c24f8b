"""Scenes: what the scripted model does for a prompt, chosen by words in the prompt.

Rules kept here: scenes can be played in any order and repeatedly. The user may have moved, changed
or deleted every file meanwhile: a scene checks first, and explains a tool that fails.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import unquote

from eca_nvim.demo.queries import GREET
from eca_nvim.demo.subagent import Subagent, SubagentTask
from eca_nvim.demo.task_list import TaskList
from eca_nvim.demo.texts import GREETING, MARKDOWN
from eca_nvim.demo.tools import Outcome, Plan, Workshop
from eca_nvim.demo.turn import Rejected, Turn
from eca_nvim.demo.wire import RequestFailed

Scene = Callable[[Turn, Workshop], Awaitable[None]]

MOST_TOKENS = 1_000_000
_NUMBER = re.compile("[0-9]{1,9}")

RUNS, GREETS = "greet.py", "greeting.py"
"""The file that runs, and the one that `refactor` moves its greeting to."""
NOTES, RENAMED_NOTES = "README.md", "NOTES.md"


class ToolFailed(Exception):
    """Raised when a tool failed that its scene needs; the text is the tool's last output."""


async def use(turn: Turn, plan: Plan) -> Outcome:
    """Call a tool and return its outcome. Raises ToolFailed, and Rejected."""
    outcome = await turn.call(plan)
    if outcome.failed:
        raise ToolFailed(outcome.outputs[-1])
    return outcome


async def greet(turn: Turn, _workshop: Workshop) -> None:
    """Say hello and what to try."""
    await turn.say(GREETING)


async def welcome(turn: Turn, _workshop: Workshop) -> None:
    """Greet whom the prompt names."""
    name = turn.prompt.partition(GREET)[2].strip(' "')
    await turn.say(f"Hello, **{name or 'you'}**!")


async def fix(turn: Turn, workshop: Workshop) -> None:
    """Think, read, edit after approval, and say what was done."""
    await turn.think(
        "The greeting writes the name in lower case. I should look at the file first, "
        "then change the one call that does it."
    )
    await turn.say("I will look at the file first.")
    name = workshop.file_with("def greet", RUNS, GREETS)
    source = await use(turn, workshop.read(name))
    if "name.lower()" not in source.outputs[0]:
        await turn.say("It is fixed already: `greet` keeps the name as it is.")
        return
    await turn.say("`greet` spoils the name with `.lower()`. Here is the change:")
    await use(turn, workshop.edit(name, "name.lower()", "name"))
    await turn.say(f"Done. `{workshop.folder}/{name}` now greets you **by your name**.")


async def refactor(turn: Turn, workshop: Workshop) -> None:
    """Change several files in one turn: edit two, create one, move one."""
    await turn.say("`greet` moves to a file of its own, and the notes get a better name.")
    source = (await use(turn, workshop.read(RUNS))).outputs[0]
    head, _, rest = source.partition("def greet(name):\n")
    body, _, tail = rest.partition("\n\n\n")
    note = "Real files that the demo agent may read and, when you allow it, change.\n"
    if not tail or note not in workshop.text(NOTES):
        await turn.say("That is done already. `:Eca undo-turn` undoes it.")
        return
    await use(turn, workshop.write(GREETS, f"def greet(name):\n{body}\n"))
    whole = f"def greet(name):\n{body}\n\n\n"
    await use(turn, workshop.edit(RUNS, whole, ""))
    imports = f"{head.rstrip()}\n\nfrom greeting import greet\n\n"
    await use(turn, workshop.edit(RUNS, head, f"{imports}\n"))
    await use(turn, workshop.edit(NOTES, note, f"{note}{GREETS} greets, {RUNS} runs.\n"))
    await use(turn, workshop.move(NOTES, RENAMED_NOTES))
    await turn.say(
        "Done. `:Eca changes` lists it all: keep, revert or comment each change. "
        "`:Eca undo-turn` undoes the whole turn, `:Eca files` lists the files."
    )


async def run(turn: Turn, workshop: Workshop) -> None:
    """Run a real command after approval."""
    await turn.say("Let me run it.")
    outcome = await use(turn, workshop.python(RUNS, "World"))
    output = outcome.outputs[-1].removeprefix("Stdout:\n")
    await turn.say(f"It said:\n\n```text\n{output}\n```\n")


async def replace(turn: Turn, workshop: Workshop) -> None:
    """Swap two words with a command, which does not name the file in its arguments."""
    name = workshop.file_with("def greet", RUNS, GREETS)
    old, new = ("Hello", "Welcome") if "Hello" in workshop.text(name) else ("Welcome", "Hello")
    await turn.say(f"I greet with *{new}* from now on. `perl` can do that.")
    await use(turn, workshop.shell(f"perl -pi -e s/{old}/{new}/ {name}"))
    await turn.say(
        "Done. A command does not say which files it changes: `:Eca changes` lists those of your "
        "workspace all the same, and `:Eca undo-turn` undoes them."
    )


async def diagnose(turn: Turn, _workshop: Workshop) -> None:
    """Ask the editor for diagnostics and report them."""
    found: list[object] = []

    async def ask() -> Outcome:
        answer = await turn.editor("editor/getDiagnostics", {})
        items = answer.get("diagnostics") if isinstance(answer, dict) else None
        found.extend(items if isinstance(items, list) else [])
        return Outcome((f"{len(found)} diagnostics",))

    await turn.call(Plan("editor_diagnostics", "Checking all diagnostics", {}, ask))
    if not found:
        await turn.say("Your editor reports **no diagnostics** for this workspace.")
        return
    lines = [_finding(item) for item in found if isinstance(item, dict)]
    await turn.say(f"Your editor reports **{len(lines)}**:\n\n" + "\n".join(lines))


async def ask(turn: Turn, _workshop: Workshop) -> None:
    """Ask a question and use the answer."""
    answer = await turn.ask("Which part of Neovim do you like best?", ["motions", "Lua", "LSP"])
    if answer is None:
        await turn.say("Never mind, then.")
    else:
        await turn.say(f"**{answer}**: a fine choice.")


async def show_markdown(turn: Turn, _workshop: Workshop) -> None:
    """Stream one of everything."""
    await turn.say(MARKDOWN)


async def parallel(turn: Turn, workshop: Workshop) -> None:
    """Read one file while a new one waits for approval."""
    notes = workshop.file_with("#", NOTES, RENAMED_NOTES)
    await use(turn, workshop.read(notes))
    await use(turn, workshop.write("plan.md", "# Plan\n\n1. greet\n2. write\n3. rest\n"))
    await turn.say(f"Two tools ran: one read `{notes}`, one wrote `plan.md`.")


async def delegate(turn: Turn, workshop: Workshop) -> None:
    """Let a subagent read a file and run it after approval."""

    async def explore(subagent: Subagent) -> str:
        await subagent.turn.say("I read the file first.")
        try:
            await use(subagent.turn, workshop.read(RUNS))
            subagent.step()
            outcome = await use(subagent.turn, workshop.python(RUNS, "Reader"))
        except Rejected:
            await subagent.turn.say("The user rejected it.")
            return "I was not allowed to run it."
        except ToolFailed as fault:
            await subagent.turn.say(f"That failed: {fault}")
            return f"I found out nothing: {fault}"
        subagent.step()
        output = outcome.outputs[-1].removeprefix("Stdout:\n")
        await subagent.turn.say(f"It greets with `{output}`.")
        return f"`greet.py` says: {output}"

    await turn.say("I will ask an *explorer* what `greet.py` does.")
    task = SubagentTask("explorer", "exploring the workshop", "Find out what greet.py says.")
    outcome = await Subagent(turn, task, explore).run()
    await turn.say(outcome.outputs[0].partition("\n\n")[2])


async def plan(turn: Turn, workshop: Workshop) -> None:
    """Work through a list of tasks."""
    tasks = TaskList("Read greet.py", "Read the README", "Report")
    await turn.say("I plan first.")
    await turn.call(tasks.plan())
    notes = workshop.file_with("#", NOTES, RENAMED_NOTES)
    for number, work in enumerate((RUNS, notes, None), 1):
        await turn.call(tasks.start(number))
        if work:
            await use(turn, workshop.read(work))
        else:
            await turn.say("Both are short and need no change.")
        await turn.call(tasks.complete(number))
    await turn.say("All tasks are done.")


async def stream(turn: Turn, _workshop: Workshop) -> None:
    """Stream as many tokens as the prompt says, as Markdown of many lines."""
    wanted = _NUMBER.search(turn.prompt.replace(",", ""))
    count = min(int(wanted[0]) if wanted else 100_000, MOST_TOKENS)
    await turn.say_at_once([_token(number) for number in range(count)])


async def fail(turn: Turn, _workshop: Workshop) -> None:
    """Fail like a model whose provider refuses the key."""
    turn.system("\nError from the model: 401 invalid api key (this is the demo failing on request)")


async def crash(_turn: Turn, _workshop: Workshop) -> None:
    """Crash in the middle of a turn."""
    raise RuntimeError("crashing on request")


SCENES: Mapping[re.Pattern[str], Scene] = {
    re.compile(f"^/{GREET}"): welcome,
    re.compile(r"\bcrash"): crash,
    re.compile(r"\bfail"): fail,
    re.compile(r"\b(stream|tokens)\b"): stream,
    re.compile(r"\b(fix|edit|change)"): fix,
    re.compile(r"\b(refactor|review)"): refactor,
    re.compile(r"\b(replace|sed)\b"): replace,
    re.compile(r"\b(run|shell|command)"): run,
    re.compile(r"\b(diagnos|lint|errors?\b)"): diagnose,
    re.compile(r"\b(ask|question)"): ask,
    re.compile(r"\bmarkdown"): show_markdown,
    re.compile(r"\b(parallel|two)\b"): parallel,
    re.compile(r"\b(delegate|subagent|explore)"): delegate,
    re.compile(r"\b(plan|tasks)\b"): plan,
}
"""The first pattern found in the prompt chooses the scene; without a match it is the greeting."""


async def play(turn: Turn, workshop: Workshop) -> None:
    """Play the scene that the prompt asks for."""
    prompt = turn.prompt.partition("\n<contexts>")[0].lower()  # ignore words in file names
    scene = next((scene for words, scene in SCENES.items() if words.search(prompt)), greet)
    try:
        await scene(turn, workshop)
    except RequestFailed as fault:
        await turn.say(f"Your editor could not answer: {fault}")
    except ToolFailed as fault:
        await turn.say(f"That did not work, so I stop here: {fault}")


def _finding(item: Mapping[str, object]) -> str:
    place = item.get("range")
    start = place.get("start") if isinstance(place, dict) else None
    line = start.get("line") if isinstance(start, dict) else "?"
    path = unquote(str(item.get("uri", "")).rpartition("/")[2])
    return f"- `{path}:{line}` {item.get('severity')}: {item.get('message')}"


def _token(number: int) -> str:
    """Return one token of a long text: mostly words, some line ends, few headings."""
    match number:
        case _ if number % 400 == 0:
            return f"\n\n## Part {number // 400 + 1}\n\n"
        case _ if number % 12 == 0:
            return f"line {number}\n"
        case _:
            return ("words ", "of ", "the ", "**demo** ", "stream ")[number % 5]
