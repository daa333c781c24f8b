"""What the scripted model does with a prompt: one scene a topic, found by its words."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import unquote

from eca_nvim.demo.subagent import Errand, Helper
from eca_nvim.demo.task_list import TaskList
from eca_nvim.demo.texts import GREETING, MARKDOWN
from eca_nvim.demo.tools import Outcome, Plan, Workshop
from eca_nvim.demo.turn import Rejected, Turn
from eca_nvim.demo.wire import RequestFailed

Scene = Callable[[Turn, Workshop], Awaitable[None]]

MOST_TOKENS = 1_000_000


async def greet(turn: Turn, _workshop: Workshop) -> None:
    """Say hello and what to try."""
    await turn.say(GREETING)


async def fix(turn: Turn, workshop: Workshop) -> None:
    """Think, read, edit after approval, and say what was done."""
    await turn.think(
        "The greeting writes the name in lower case. I should look at greet.py first, "
        "then change the one call that does it."
    )
    await turn.say("I will look at the file first.")
    source = await turn.call(workshop.read("greet.py"))
    if "name.lower()" not in source.outputs[0]:
        await turn.say("It is fixed already: `greet` keeps the name as it is.")
        return
    await turn.say("`greet` spoils the name with `.lower()`. Here is the change:")
    await turn.call(workshop.edit("greet.py", "name.lower()", "name"))
    await turn.say(f"Done. `{workshop.folder}/greet.py` now greets you **by your name**.")


async def refactor(turn: Turn, workshop: Workshop) -> None:
    """Change several files in one turn: edit two, make one, move one."""
    await turn.say("`greet` moves to a file of its own, and the notes get a better name.")
    source = (await turn.call(workshop.read("greet.py"))).outputs[0]
    head, _, rest = source.partition("def greet(name):\n")
    body, _, tail = rest.partition("\n\n\n")
    if not tail or not (workshop.folder / "README.md").exists():
        await turn.say("That is done already. `:Eca undo-turn` takes it back.")
        return
    await turn.call(workshop.write("greeting.py", f"def greet(name):\n{body}\n"))
    whole = f"def greet(name):\n{body}\n\n\n"
    await turn.call(workshop.edit("greet.py", whole, ""))
    imports = f"{head.rstrip()}\n\nfrom greeting import greet\n\n"
    await turn.call(workshop.edit("greet.py", head, f"{imports}\n"))
    note = "Real files that the demo agent may read and, when you approve, change.\n"
    await turn.call(workshop.edit("README.md", note, f"{note}greeting.py greets, greet.py runs.\n"))
    await turn.call(workshop.move("README.md", "NOTES.md"))
    await turn.say(
        "Done. `:Eca changes` lists it all: keep, revert or comment each change. "
        "`:Eca undo-turn` takes the whole turn back, `:Eca files` lists the files."
    )


async def run(turn: Turn, workshop: Workshop) -> None:
    """Run a real command after approval."""
    await turn.say("Let me run it.")
    outcome = await turn.call(workshop.python("greet.py", "World"))
    said = outcome.outputs[-1].removeprefix("Stdout:\n")
    await turn.say(f"It said:\n\n```text\n{said}\n```\n")


async def replace(turn: Turn, workshop: Workshop) -> None:
    """Change files by a command, which tells nobody which."""
    await turn.say("I greet more warmly from now on. `sed` can do that.")
    await turn.call(workshop.shell("sed -i.orig s/Hello/Welcome/ greet.py"))
    await turn.say(
        "Done. A command does not say which files it changes: `:Eca changes` lists those of your "
        "workspace all the same, and `:Eca undo-turn` takes them back."
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
    await turn.call(workshop.read("README.md"))
    await turn.call(workshop.write("plan.md", "# Plan\n\n1. greet\n2. write\n3. rest\n"))
    await turn.say("Two tools ran: one read `README.md`, one wrote `plan.md`.")


async def delegate(turn: Turn, workshop: Workshop) -> None:
    """Let a subagent read a file and run it after approval."""

    async def explore(helper: Helper) -> str:
        await helper.turn.say("I read the file first.")
        await helper.turn.call(workshop.read("greet.py"))
        helper.step()
        try:
            outcome = await helper.turn.call(workshop.python("greet.py", "Reader"))
        except Rejected:
            await helper.turn.say("The user said no.")
            return "I was not allowed to run it."
        helper.step()
        said = outcome.outputs[-1].removeprefix("Stdout:\n")
        await helper.turn.say(f"It greets with `{said}`.")
        return f"`greet.py` says: {said}"

    await turn.say("An explorer shall find out what `greet.py` does.")
    errand = Errand("explorer", "exploring the workshop", "Find out what greet.py says.")
    outcome = await Helper(turn, errand, explore).run()
    await turn.say(outcome.outputs[0].partition("\n\n")[2])


async def plan(turn: Turn, workshop: Workshop) -> None:
    """Work through a list of tasks."""
    tasks = TaskList("Read greet.py", "Read the README", "Report")
    await turn.say("I plan first.")
    await turn.call(tasks.plan())
    for number, work in enumerate(("greet.py", "README.md", None), 1):
        await turn.call(tasks.start(number))
        if work:
            await turn.call(workshop.read(work))
        else:
            await turn.say("Both are short and need no change.")
        await turn.call(tasks.complete(number))
    await turn.say("All tasks are done.")


async def stream(turn: Turn, _workshop: Workshop) -> None:
    """Stream as many tokens as asked for, as Markdown of many lines."""
    wanted = re.search(r"\d+", turn.prompt.replace(",", ""))
    count = min(int(wanted[0]) if wanted else 100_000, MOST_TOKENS)
    await turn.say_at_once([_token(number) for number in range(count)])


async def fail(turn: Turn, _workshop: Workshop) -> None:
    """Fail as a model does that its provider refuses."""
    turn.system("\nError from the model: 401 invalid api key (this is the demo failing on request)")


async def crash(_turn: Turn, _workshop: Workshop) -> None:
    """End the process in the middle of a turn."""
    raise RuntimeError("crashing on request")


SCENES: Mapping[str, Scene] = {
    r"\bcrash": crash,
    r"\bfail": fail,
    r"\b(stream|tokens)\b": stream,
    r"\b(fix|edit|change)": fix,
    r"\b(refactor|review)": refactor,
    r"\b(replace|sed)\b": replace,
    r"\b(run|shell|command)": run,
    r"\b(diagnos|lint|errors?\b)": diagnose,
    r"\b(ask|question)": ask,
    r"\bmarkdown": show_markdown,
    r"\b(parallel|two)\b": parallel,
    r"\b(delegate|subagent|explore)": delegate,
    r"\b(plan|tasks)\b": plan,
}
"""The first pattern found in the prompt wins; without one, the greeting."""


async def play(turn: Turn, workshop: Workshop) -> None:
    """Play the scene that the prompt asks for."""
    prompt = turn.prompt.partition("\n<contexts>")[0].lower()  # names of files are no topic
    scene = next((scene for words, scene in SCENES.items() if re.search(words, prompt)), greet)
    try:
        await scene(turn, workshop)
    except RequestFailed as fault:
        await turn.say(f"Your editor could not answer: {fault}")


def _finding(item: Mapping[str, object]) -> str:
    place = item.get("range")
    start = place.get("start") if isinstance(place, dict) else None
    line = start.get("line") if isinstance(start, dict) else "?"
    path = unquote(str(item.get("uri", "")).rpartition("/")[2])
    return f"- `{path}:{line}` {item.get('severity')}: {item.get('message')}"


def _token(number: int) -> str:
    """One token of an endless text: words, a line end now and then, a heading rarely."""
    match number:
        case _ if number % 400 == 0:
            return f"\n\n## Part {number // 400 + 1}\n\n"
        case _ if number % 12 == 0:
            return f"line {number}\n"
        case _:
            return ("words ", "of ", "the ", "**demo** ", "stream ")[number % 5]
