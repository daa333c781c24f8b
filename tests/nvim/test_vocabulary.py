"""Lua and Python list the same intents, field for field, and the same view ops."""

from tests.support.editor import Neovim
from tests.support.messages import kinds

from eca_nvim.chat.vocabulary.intents import INTENTS
from eca_nvim.chat.vocabulary.ops import ViewOp


def test_both_sides_know_the_same_intents(nvim: Neovim) -> None:
    ours = {name: list(kind.__struct_fields__) for name, kind in INTENTS.items()}
    assert nvim.lua("return require('eca.host.intents')") == ours


def test_both_sides_know_the_same_ops(nvim: Neovim) -> None:
    ours = [str(kind.__struct_config__.tag) for kind in kinds(ViewOp)]
    code = "return vim.tbl_keys(require('eca.view.ops').%s)"
    drawn = [*nvim.lua(code % "functions"), *nvim.lua(code % "text_functions")]
    assert sorted(drawn) == sorted(ours)
