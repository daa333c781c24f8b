"""What is counted at a rest: of Neovim, of its host, and of all that they have started."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from tests.soak.user import User
from tests.support.processes import GONE, command_line

Counts: TypeAlias = dict[str, int]
Names: TypeAlias = Mapping[str, Sequence[str]]
"""The names of some of what is counted, for a failure."""

WATCH_HANDLES = """
local made = setmetatable({}, { __mode = 'k' })
for name, create in pairs(vim.uv) do
  vim.uv[name] = not vim.startswith(name, 'new_') and create or function(...)
    local handle, fault, code = create(...)
    if type(handle) == 'userdata' then
      made[handle] = debug.traceback(name, 2):gsub('%s+', ' '):sub(1, 300)
    end
    return handle, fault, code
  end
end
function _G.soak_handles()
  return vim.iter(pairs(made)):fold({}, function(open, handle, maker)
    local alive, closing = pcall(vim.uv.is_closing, handle)
    return vim.list_extend(open, (alive and not closing) and { maker } or {})
  end)
end
"""
"""Lua code for the start: Neovim 0.10 ends when it is asked for its handles (`vim.uv.walk`)."""
PROMPTS = "prompts to step through, KiB"
"""The last 500 are kept, however long each is."""
MADE = "colours of windows made"
"""Neovim makes a namespace for the colours of each window that has its own."""
TRIM = """
jit.flush()
collectgarbage()
collectgarbage()
local ffi = require('ffi')
pcall(ffi.cdef, [[
  struct soak_heap {
    size_t arena, chunks, fast, maps, mapped, most, unused_fast, used, free, top;
  };
  struct soak_heap mallinfo2(void);
  int malloc_trim(size_t);
]]) -- once
ffi.C.malloc_trim(0)
local heap = ffi.C.mallinfo2()
local used = math.floor(tonumber(heap.used + heap.mapped) / 1024)
"""
"""Lua code that gives back what is not used, and looks at what is (glibc)."""
COUNTED = (
    TRIM
    + """
local api, namespaces, extmarks = vim.api, vim.api.nvim_get_namespaces(), {}
local buffers = vim.tbl_map(function(buf)
  for name, namespace in pairs(namespaces) do
    for _ in ipairs(api.nvim_buf_get_extmarks(buf, namespace, 0, -1, {})) do
      extmarks[#extmarks + 1] = ('%s in %s'):format(name, api.nvim_buf_get_name(buf))
    end
  end
  return ('%d %s %s'):format(buf, vim.bo[buf].filetype, api.nvim_buf_get_name(buf))
end, api.nvim_list_bufs())
local windows = vim.tbl_map(function(win)
  local config, buf = api.nvim_win_get_config(win), api.nvim_win_get_buf(win)
  local facts = { config.relative, config.hide, vim.bo[buf].filetype, api.nvim_buf_get_name(buf) }
  return (vim.inspect(facts):gsub('%s+', ' '))
end, api.nvim_list_wins())
local ours = vim.tbl_filter(function(name) return name:find('eca') end, vim.tbl_keys(namespaces))
local autocommands = vim.tbl_map(function(it)
  local place = it.buffer and api.nvim_buf_get_name(it.buffer) or it.pattern
  return ('%s %s %s'):format(it.group_name, it.event, place)
end, api.nvim_get_autocmds({}))
local prompts = 0 -- the last 500, each as long as it is
for _, text in ipairs(require('eca.input.history').newest_first()) do
  prompts = prompts + #text / 1024
end
return {
  { buffers = buffers, autocommands = autocommands, namespaces = ours,
    windows = windows, extmarks = extmarks,
    ['handles and timers'] = _G.soak_handles(),
    ['highlight groups'] = vim.fn.getcompletion('Eca[A-Z]', 'highlight') },
  { channels = #api.nvim_list_chans(),
    mappings = #api.nvim_get_keymap('n') + #api.nvim_get_keymap('i'),
    ['colours of windows made'] = api.nvim_create_namespace(''), -- they are numbered
    ['prompts to step through, KiB'] = math.floor(prompts),
    ['Lua, KiB'] = math.floor(collectgarbage('count') - prompts),
    ["Neovim's heap, KiB"] = used },
}
"""
)
TRIED = re.compile(r"[a-z0-9_]{8}")
"""The names of what Python writes to try a folder."""
NEOVIM = ("Neovim, KiB", "Neovim's heap, KiB")
MEMORY = (*NEOVIM, "host, KiB", "Lua, KiB")
JUDGED = MEMORY[1:]
"""What is judged by its course; other counts stay the same. Neovim's pages are not judged: those
that are in use in part are not given back, what is in use tells whether it keeps anything."""


def count(user: User) -> tuple[Counts, Names]:
    """Count everything now."""
    names, found = user.lua(COUNTED)
    names["processes"] = [command_line(pid) for pid in user.nvim.child.family()]
    # A host makes one of a kind when it is needed; a demo agent that was killed leaves its own.
    files = Counter(it.name.rpartition("-")[0] for it in _temporary(user))
    names["temporary files"] = [it for it, n in files.items() if n > 1 and it != "eca-demo"]
    for name, pid in (("Neovim", user.nvim.pid), ("host", user.host() or 0)):
        with suppress(*GONE):
            names[f"{name}: files"] = [*_files(pid)]
            found[f"{name}: threads"] = len([*Path(f"/proc/{pid}/task").iterdir()])
            found[f"{name}, KiB"] = memory_of(pid)
    return {name: len(it) for name, it in names.items()} | found, names


def _temporary(user: User) -> Iterator[Path]:
    """Yield temporary files, but not what Python writes to try the folder.

    A process that is killed between the write and the removal leaves it.
    """
    for it in (user.home / "tmp").iterdir():
        if not (TRIED.fullmatch(it.name) and it.stat().st_size == 0 and it.is_file()):
            yield it


def _files(pid: int) -> Iterator[str]:
    """Yield what a process has open, without numbers; not its folders, see "temporary files"."""
    for it in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if not it.readlink().name.startswith("eca-"):
                yield re.sub(r"\d+", "", str(it.readlink()))


def memory_of(pid: int) -> int:
    """Return the memory that is the process's own, in KiB: what it has written to."""
    told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(map(int, re.findall(r"^(?:Anonymous|SwapPss): +(\d+)", told, re.MULTILINE)))


def most(counts: Sequence[Counts]) -> Counts:
    """Return the most of each count."""
    return {name: max(it.get(name, 0) for it in counts) for each in counts for name in each}


def more(now: Counts, first: Counts) -> list[str]:
    """Return the names of what there is more of than at the first rests."""
    judged = now.keys() - {*MEMORY, MADE, PROMPTS}
    return [it for it in now if it in judged and now[it] > first.get(it, 0)]


def come(name: str, now: Names, before: Names) -> list[str]:
    """Return what there is now and was not before."""
    return [*(Counter(now.get(name, ())) - Counter(before.get(name, ()))).elements()]
