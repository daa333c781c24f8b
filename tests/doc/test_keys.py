"""The help names the keys of every buffer of ours: each mapped one, and no other."""

import re
from collections.abc import Iterable, Iterator

import pytest
from tests.doc import documents
from tests.doc.key_places import MAPPING, PLACES, WHERE
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY
from tests.ui.test_every_key import Walk

KEY = re.compile(r"(?:[]gzd[](?=.))?(?:<[A-Z0-9][^>\s]*>|[]a-zA-Z0-9*?+[-])")
"""A key as the help writes it: a character or a name, maybe after one that begins many."""
ROW = re.compile(r"(?m)^ {8}(\S.*?) {2,}\S")
QUOTED = re.compile(r"`(\S+)`|(?<![^\s(])(<[A-Z][^>\s]*>)(?!\()")
DIGITS = "1…9"
"""Stands for all keys that are digits."""
MOUSE = {"<2-LeftMouse>": "double click", "<LeftRelease>": "click on a key"}
"""Words of the help for what is done with the mouse."""

MAPPED = """
local found = {}
for mode in ('nxsoilct'):gmatch('.') do
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, mode)) do
    local source = map.callback and debug.getinfo(map.callback, 'S').source or ''
    local file = source:match('/lua/eca/(.+)%.lua$')
    local is_ours = file or vim.startswith(map.desc or '', 'eca: ')
    if is_ours and file ~= 'approval/buffer' then
      table.insert(found, require('eca.ui.keys').spell(map.lhs))
    end
  end
end
return found
"""
"""Keys of ours in the current buffer. Those of `approval/buffer` only say that they do nothing."""


def named_in(text: str) -> Iterator[str]:
    """Yield the keys that a part of the help names: in its tables, and in its sentences."""
    shown = documents.without_examples(text)
    for cell in ROW.findall(shown):
        words = cell.replace(" … ", "…").split()
        if all(KEY.fullmatch(word) or word == DIGITS for word in words):
            yield from words
    for quoted in QUOTED.findall(shown):
        yield from (word for word in quoted if KEY.fullmatch(word))
    words = " ".join(shown.split())
    yield from (key for key, said in MOUSE.items() if said in words)


def alike(keys: Iterable[str]) -> set[str]:
    """Return keys, with one for all digits."""
    return {DIGITS if key.isdigit() else key for key in keys}


def named(tags: Iterable[str]) -> set[str]:
    return alike(key for tag in tags for key in named_in(documents.told(tag)))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("        a * - <CR>      allow\n        ]] [[    go", {"a", "*", "-", "<CR>", "]]", "[["}),
        (
            "        ]w g<CR> gC     go\n        za dO g?    x",
            {"]w", "g<CR>", "gC", "za", "dO", "g?"},
        ),
        ("        1 … 9           choose", {DIGITS}),
        ("with `1` to `9`", {DIGITS}),
        ("`g?`, <Tab> and `<M-CR>` (<Esc>)", {"g?", "<Tab>", "<M-CR>", "<Esc>"}),
        ("|<Plug>(EcaHide)|, <Plug>(EcaPut), `:Eca`, `read`, |u|", set()),
        ("        `eca`           x\n        :w              y\n        asks?   z", set()),
        ("a line: >\n\n        a       b\n<\nThen a double\nclick", {"<2-LeftMouse>"}),
    ],
)
def test_keys_are_read(text: str, keys: set[str]) -> None:
    assert alike(named_in(text)) == keys


def test_all_files_that_map_keys_are_known() -> None:
    lua = REPOSITORY / "lua" / "eca"
    found = {
        it for it in lua.rglob("*.lua") if re.search(r"keymap\.set|set_keymap", it.read_text())
    }
    assert {str(it.relative_to(lua).with_suffix("")) for it in found} == MAPPING


def test_all_that_is_opened_has_a_place() -> None:
    assert {name for place in PLACES.values() for name in place.opened} == {*WHERE}


@pytest.mark.either_nvim
@pytest.mark.parametrize("name", PLACES)
def test_keys_of_a_place_are_those_that_the_help_names(start_nvim: StartNeovim, name: str) -> None:
    place, found = PLACES[name], set[str]()
    for opened in place.opened:
        walk = Walk(start_nvim, WHERE[opened])
        walk.reopen()
        found |= alike(walk.nvim.lua(MAPPED))
        assert walk.take_errors() == []
    told = named(place.tags)
    assert bool(found) == bool(place.tags or place.others)
    assert found - told - named(place.others) == set()
    assert told - found == {*place.mentioned}
