"""Scenes: what the scripted model does for a prompt, chosen by words in the prompt, as data.

Scenes can be played in any order and repeatedly. The user may have moved, changed or deleted every
file meanwhile: a scene checks first (`need`), and one whose tool fails ends with its words.
"""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

MOST_TOKENS = 1_000_000
_FIGURES = re.compile("[0-9]{1,9}")
_MOST_NAMED = 4
_NO_OTHERS = "`:Eca install eca` gets it; `:Eca server` lists agents."

Step = tuple[str, ...]
"""A verb of the engine and its words. `{fact}` in a word stands for what `facts` and steps know."""

_RUNS = '''"""Greets people. One name comes out wrong: ask the demo agent to fix it."""

import sys


def greet(name):
    return "Hello, " + name.lower() + "!"


if __name__ == "__main__":
    print(greet(sys.argv[1] if len(sys.argv) > 1 else "Neovim"))
'''
_NOTES = """# The demo's workshop

Real files that the demo agent may read and, when you allow it, change.
The folder goes away with the demo agent.
"""
FILES: Mapping[str, str] = {"greet.py": _RUNS, "README.md": _NOTES}
"""The files of a new scratch folder."""
_NOTE = "Real files that the demo agent may read and, when you allow it, change.\n"

GREETING = """Hello! I am the **demo agent** of this plugin. No model is behind me, but my \
tools are real.

Try one of these, as your next prompt:

- `fix the greeting`: I think, read a file and ask to **edit** it. Answer with `a` (allow), \
`r` (reject) or `d` (full diff).
- `refactor`: I change several files in one turn, for you to review with `:Eca changes`.
- `run it`: I ask to run a *shell command*.
- `replace a word`: a command changes a file without naming it; `:Eca undo-turn` still restores it.
- `diagnostics`: I read what your linters say about the open files.
- `ask me something`: I ask you a question.
- `show markdown`: headings, lists, tables and code.
- `parallel`: two tools at once.
- `delegate`: a *subagent* reads a file, and its request comes to you.
- `plan`: I work through a list of tasks. `:Eca usage` shows how full the context is.
- `stream 100000`: that many tokens, as fast as I can send them.
- `fail` or `crash`: what errors look like.

Stop me with `<C-c>`. All keys: `g?`.
"""

_MARKDOWN = """# A heading

Some *italic*, **bold** and `inline code`, and a [link](https://neovim.io).

## Lists

1. first
2. second
   - nested **item**
   - [x] done
   - [ ] to do

> A quote, which may be
> longer than a line.

| tool | asks |
|------|------|
| read | no   |
| edit | yes  |

```lua
local function greet(name)
  -- code has the colours of its language
  return ('Hello, %s!'):format(name)
end
```

```python
def greet(name: str) -> str:
    return f"Hello, {{name}}!"
```

---

That is all.
"""

_THOUGHT = """The greeting writes the name in lower case. I should look at the file first, \
then change the one call that does it."""
_REFACTORED = """Done. `:Eca changes` lists it all: keep, revert or comment each change. \
`:Eca undo-turn` undoes the whole turn, `:Eca files` lists the files."""
_REPLACED = """Done. A command does not say which files it changes: `:Eca changes` lists those of \
your workspace all the same, and `:Eca undo-turn` undoes them."""
_FAILURE = "\nError from the model: 401 invalid api key (this is the demo failing on request)"

GREET = "demo:greet"
"""A prompt with an argument, as tool servers have."""
_NAMED = {"name": "who", "description": "Who is greeted", "required": True}
_NUMBER = {"name": "tokens", "description": "How many"}

COMMANDS: Sequence[tuple[str, str, Sequence[Mapping[str, object]]]] = (
    ("hello", "Says what the demo agent can do", ()),
    ("fix", "Fixes a bug in a file, after approval", ()),
    ("refactor", "Changes several files in one turn", ()),
    ("run", "Runs a command, after approval", ()),
    ("replace", "Runs a command that changes a file", ()),
    ("diagnostics", "Reads what your linters say", ()),
    ("ask", "Asks you a question", ()),
    ("markdown", "Shows headings, lists, tables and code", ()),
    ("parallel", "Uses two tools at once", ()),
    ("delegate", "Lets a subagent read a file", ()),
    ("plan", "Works through a list of tasks", ()),
    ("stream", "Sends many tokens", (_NUMBER,)),
    ("fail", "Fails like a model without a key", ()),
    (GREET, "Greets somebody", (_NAMED,)),
)
"""The commands: each is a scene. Name, what it does, arguments."""

HELLO: Iterable[Step] = (("say", GREETING),)
"""The scene for all other prompts."""
EXPLORE: Sequence[Iterable[Step]] = (
    (("say", "I read the file first."), ("read", "greet.py")),
    (("shell", "{python} greet.py Reader"),),
    (("say", "It greets with `{output}`."), ("report", "`greet.py` says: {output}")),
)
"""What the subagent does in each of its steps."""

SCENES: Mapping[re.Pattern[str], Iterable[Step]] = {
    re.compile(f"^/{GREET}"): (("say", "Hello, **{who}**!"),),
    re.compile(r"\bcrash"): (("crash", "crashing on request"),),
    re.compile(r"\bfail"): (("fail", _FAILURE),),
    re.compile(r"\b(stream|tokens)\b"): (("stream", "{number}"),),
    re.compile(r"\b(fix|edit|change)"): (
        ("think", _THOUGHT),
        ("say", "I will look at the file first."),
        ("read", "{code}"),
        ("need", "{code}", "name.lower()", "It is fixed already: `greet` keeps the name as it is."),
        ("say", "`greet` spoils the name with `.lower()`. Here is the change:"),
        ("edit", "{code}", "name.lower()", "name"),
        ("say", "Done. `{folder}/{code}` now greets you **by your name**."),
    ),
    re.compile(r"\b(refactor|review)"): (
        ("say", "`greet` moves to a file of its own, and the notes get a better name."),
        ("read", "greet.py"),
        ("need", "greet.py", "{greet}\n\n", "That is done already. `:Eca undo-turn` undoes it."),
        ("need", "README.md", _NOTE, "That is done already. `:Eca undo-turn` undoes it."),
        ("write", "greeting.py", "{greet}"),
        ("edit", "greet.py", "{greet}\n\n", ""),
        ("edit", "greet.py", "{head}", "{top}\n\nfrom greeting import greet\n\n\n"),
        ("edit", "README.md", _NOTE, f"{_NOTE}greeting.py greets, greet.py runs.\n"),
        ("move", "README.md", "NOTES.md"),
        ("say", _REFACTORED),
    ),
    re.compile(r"\b(replace|sed)\b"): (
        ("say", "I greet with *{new}* from now on. `perl` can do that."),
        ("shell", "perl -pi -e s/{old}/{new}/ {code}"),
        ("say", _REPLACED),
    ),
    re.compile(r"\b(run|shell|command)"): (
        ("say", "Let me run it."),
        ("shell", "{python} greet.py World"),
        ("say", "It said:\n\n```text\n{output}\n```\n"),
    ),
    re.compile(r"\b(diagnos|lint|errors?\b)"): (
        ("diagnose",),
        ("say", "Your editor reports {findings}"),
    ),
    re.compile(r"\b(ask|question)"): (
        ("ask", "Which part of Neovim do you like best?", "motions", "Lua", "LSP"),
        ("say", "**{answer}**: a fine choice."),
    ),
    re.compile(r"\bmarkdown"): (("say", _MARKDOWN),),
    re.compile(r"\b(parallel|two)\b"): (
        ("read", "{notes}"),
        ("write", "plan.md", "# Plan\n\n1. greet\n2. write\n3. rest\n"),
        ("say", "Two tools ran: one read `{notes}`, one wrote `plan.md`."),
    ),
    re.compile(r"\b(delegate|subagent|explore)"): (
        ("say", "I will ask an *explorer* what `greet.py` does."),
        ("delegate", "explorer", "exploring the workshop", "Find out what greet.py says."),
        ("say", "{report}"),
    ),
    re.compile(r"\b(plan|tasks)\b"): (
        ("say", "I plan first."),
        ("task", "plan", "Read greet.py", "Read the README", "Report"),
        ("task", "start", "Read greet.py"),
        ("read", "greet.py"),
        ("task", "complete", "Read greet.py"),
        ("task", "start", "Read the README"),
        ("read", "{notes}"),
        ("task", "complete", "Read the README"),
        ("task", "start", "Report"),
        ("say", "Both are short and need no change."),
        ("task", "complete", "Report"),
        ("say", "All tasks are done."),
    ),
}
"""The first pattern found in the prompt chooses the scene."""


def facts(prompt: str, folder: Path, text: Callable[[str], str]) -> dict[str, str]:
    """Return what the words of steps can name. `text` reads a file; it is empty if it cannot."""

    def having(words: str, *names: str) -> str:
        return next((name for name in names if words in text(name)), names[0])

    code = having("def greet", "greet.py", "greeting.py")
    head, _, rest = text("greet.py").partition("def greet(name):\n")
    body = rest.partition("\n\n\n")[0]
    old, new = ("Hello", "Welcome") if "Hello" in text(code) else ("Welcome", "Hello")
    number = _FIGURES.search(prompt.replace(",", ""))
    return {
        "folder": str(folder),
        "python": shlex.quote(Path(sys.executable).name),
        "who": prompt.partition(GREET)[2].strip(' "') or "you",
        "number": str(min(int(number[0]), MOST_TOKENS)) if number else "100000",
        "code": code,
        "notes": having("#", "README.md", "NOTES.md"),
        "head": head,
        "top": head.rstrip(),
        "greet": f"def greet(name):\n{body}\n",
        "old": old,
        "new": new,
    }


def welcome() -> str:
    """Return what a new chat shows.

    ECA_DEMO_INSTEAD: the demo agent stands in for `eca`, and these servers are installed.
    """
    instead, reason = os.environ.get("ECA_DEMO_INSTEAD"), ""
    if instead is not None:
        there = instead.split()
        names = ", ".join(there[:_MOST_NAMED]) + (" …" if there[_MOST_NAMED:] else "")
        others = (
            f"Installed: {names}. Try `:Eca server {there[0]}`, or `:Eca install eca`"
            if there
            else _NO_OTHERS
        )
        reason = f"This is a demo: there is no `eca` on PATH. {others}\n\n"
    return f"# Welcome to the demo agent\n\n{reason}Say `hello` to see what I can do."


def complete(text: str, line: int, character: int) -> str:
    """Complete a line as another one of the text goes on, "" if none begins like it.

    line, character: 1-based, in UTF-16 units.
    """
    lines = text.split("\n")
    units = lines[line - 1].encode("utf-16-le")[: (character - 1) * 2]
    written = units.decode("utf-16-le", errors="ignore").lstrip()
    others = (it.strip() for number, it in enumerate(lines, 1) if number != line)
    return next((it[len(written) :] for it in others if written and it.startswith(written)), "")
