"""Lua sends the intents that Python knows, and both know the same view ops."""

import re

from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY
from tests.support.messages import kinds

from eca_nvim.chat.vocabulary.intents import INTENTS
from eca_nvim.chat.vocabulary.ops import ViewOp

SENT = re.compile(r"\bhost(?:'\))?\.(?:send|send_if_running|ask)\(\s*'(\w+)'")
"""An intent that Lua sends, named where it does."""


def test_what_lua_sends_is_an_intent() -> None:
    files = (REPOSITORY / "lua").rglob("*.lua")
    sent = {name for file in files for name in SENT.findall(file.read_text(encoding="utf-8"))}
    assert len(sent) > 40
    assert sent <= {*INTENTS}


def test_both_sides_know_the_same_ops(nvim: Neovim) -> None:
    ours = [str(kind.__struct_config__.tag) for kind in kinds(ViewOp)]
    code = "return vim.tbl_keys(require('eca.view.ops').%s)"
    drawn = [*nvim.lua(code % "functions"), *nvim.lua(code % "text_functions")]
    assert sorted(drawn) == sorted(ours)
