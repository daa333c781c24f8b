"""Texts of the fake server: Markdown as models write it, in chunks as they stream it."""

from __future__ import annotations

from itertools import cycle, islice

CHUNK = 12
"""Characters per chunk, about three tokens; cuts are anywhere, also inside words and markers."""
LINES_A_FENCE = 2_000
PROJECT = "/$PROJECT"
"""Placeholder in texts and paths for the folder that Neovim works in."""

SECTION = """\
## TrackedCall {number}: make the reader *lazy*

The test depends on **the order of files**, which `os.scandir` does not promise. See
[the manual](https://docs.python.org/3/library/os.html) and `tests/test_io.py` for the details.
It is enough to sort once, ~~twice~~ at the place where names are read.

- keep the *order* stable, also for `None`
- **never** read the file a second time
1. run `pytest -q`
2. look at what is left

> A quoted remark, with a [link](https://example.org) in it.

```lua
local function names(folder)
  local found = {{}} -- {number} of them
  for name in vim.fs.dir(folder) do
    found[#found + 1] = name
  end
  table.sort(found)
  return found
end
```

| file | lines | time |
|------|------:|------|
| `io.py` | {number} | 1.2 s |

"""

CODE = {
    "lua": "  local value_{number} = compute({number}, 'text', {{ key = true }}) -- a remark",
    "python": "    value_{number} = compute({number}, 'text', key=True)  # a remark",
    "c": '  int value_{number} = compute({number}, "text", KEY); /* a remark */',
}


def markdown(size: int) -> str:
    """Write Markdown of at least `size` characters."""
    parts, written, number = [], 0, 0
    while written < size:
        number += 1
        parts.append(SECTION.format(number=number))
        written += len(parts[-1])
    return "".join(parts)


def chunks(count: int) -> list[str]:
    """Cut Markdown into this many chunks."""
    text = markdown(count * CHUNK)
    return [text[at : at + CHUNK] for at in range(0, count * CHUNK, CHUNK)]


def fences() -> list[str]:
    """Return a long fence of code for each language, a line per chunk, with a word before each."""
    found = []
    for language, line in CODE.items():
        found.append(f"\nThis is the **{language}** file:\n\n```{language}\n")
        found += [line.format(number=number) + "\n" for number in range(LINES_A_FENCE)]
        found.append("```\n")
    return found


def history(lines: int) -> list[list[str]]:
    """Return questions and answers with this many lines in total, as [role, text] pairs."""
    source = cycle(markdown(50_000).splitlines())
    found, left = [], lines
    while left > 0:
        answer = "\n".join(islice(source, min(500, left)))
        found += [["user", "And what comes then?\n"], ["assistant", answer + "\n"]]
        left -= 500
    return found


def conversation(messages: int) -> list[list[str]]:
    """Return questions and answers, this many messages in total, as [role, text] pairs."""
    found = []
    for number in range(messages // 2):
        found.append(["user", f"And what is step {number}?\n"])
        found.append(["assistant", "\n" + SECTION.format(number=number)])
    return found


def large(size: int) -> str:
    """Return one message of this many characters, without blank lines at its ends."""
    return markdown(size)[:size].rstrip() + "\nThe last line."
