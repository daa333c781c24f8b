"""The longer texts of the scripted model."""

import os

_WELCOME = "# Welcome to the demo agent\n\n{reason}Say `hello` to see what I can do."
_INSTEAD = "This is a demo: there is no `eca` on PATH. {remedy}\n\n"
_OTHERS = "Installed: {names}. Try `:Eca server {first}`"
_NO_OTHERS = "`:Eca server` lists agents, and how to install them."
_MOST_NAMED = 4


def welcome() -> str:
    """Return what a new chat shows.

    ECA_DEMO_INSTEAD: the demo agent stands in for `eca`, and these servers are installed.
    """
    instead = os.environ.get("ECA_DEMO_INSTEAD")
    if instead is None:
        return _WELCOME.format(reason="")
    there = instead.split()
    names = ", ".join(there[:_MOST_NAMED]) + (" …" if there[_MOST_NAMED:] else "")
    remedy = _OTHERS.format(names=names, first=there[0]) if there else _NO_OTHERS
    return _WELCOME.format(reason=_INSTEAD.format(remedy=remedy))


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

MARKDOWN = """# A heading

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
    return f"Hello, {name}!"
```

---

That is all.
"""
