"""ECA's tools are known to its adapter, and to nobody else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.support.calls import eca_call
from tests.support.launch import REPOSITORY

import eca_nvim
from eca_nvim.agents.eca import known_tools
from eca_nvim.agents.eca.contents import choices
from eca_nvim.chat.vocabulary.call_details import (
    FileChange,
    FileName,
    Location,
    ToolCall,
    ToolKind,
)

PACKAGE = Path(eca_nvim.__path__[0])
ABOVE = [path for part in ("chat", "session", "review") for path in (PACKAGE / part).rglob("*.py")]
LUA = [path for part in ("lua", "plugin") for path in (REPOSITORY / part).rglob("*.lua")]

OUR_WORDS = frozenset(
    {
        *("activity", "content", "description", "git", "limit", "path", "pattern", "prompt"),
        *("query", "question", "source", "symbol", "text"),
    }
)
"""Words that our intents, ops and options have too, for something else."""


def quoted(path: Path) -> list[str]:
    return [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def eca_words() -> set[str]:
    """Return the names of ECA's tools and of their arguments: what is quoted in their table."""
    words = {word for word in quoted(Path(known_tools.__file__)) if re.fullmatch(r"[a-z_]+", word)}
    assert words > {*known_tools.TOOLS, "original_content", "all_occurrences", "line_offset"}
    verbs = {tool.verb for tool in known_tools.TOOLS.values()}
    origins = {"native", "unknown", "mcp"}
    return words - verbs - origins - {*ToolCall.__struct_fields__, known_tools.OWN_SERVER}


def keys_of_arguments(path: Path) -> Iterator[str]:
    """Yield the literal keys by which a file looks into the arguments of calls."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="get" | "pop"), args=[key, *_]):
                pass
            case ast.Subscript(value=value, slice=key):
                pass
            case ast.Match(subject=value):
                patterns = [it for it in ast.walk(node) if isinstance(it, ast.MatchMapping)]
                if "arguments" in ast.unparse(value):
                    yield from (ast.unparse(key) for it in patterns for key in it.keys)
                continue
            case _:
                continue
        if isinstance(key, ast.Constant) and "arguments" in ast.unparse(value):
            yield str(key.value)


def test_no_other_file_names_a_tool_of_eca_or_an_argument_of_one() -> None:
    words = eca_words()
    found = {(path.name, word) for path in ABOVE for word in quoted(path) if word in words}
    for path in LUA:
        text = path.read_text(encoding="utf-8")
        named = {match[2] for match in re.finditer(r"""(?<!\w)(['"])(\w+)\1""", text)}
        found |= {(path.name, word) for word in named & words}
    assert {(file, word) for file, word in found if word not in OUR_WORDS} == set()


@pytest.mark.parametrize("path", ABOVE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nobody_else_looks_into_the_arguments_of_a_call(path: Path) -> None:
    assert list(keys_of_arguments(path)) == []


@pytest.mark.parametrize("name", known_tools.TOOLS)
@pytest.mark.parametrize("arguments", [None, {}, {"path": [{}]}, {"command": 3, "content": None}])
def test_whatever_a_model_writes_a_known_tool_stays_one(
    name: str, arguments: Mapping[str, object] | None
) -> None:
    call = eca_call("t", name, arguments=arguments)
    assert call.kind is known_tools.TOOLS[name].kind
    assert (call.title is None) == (arguments is None)
    assert call.command is None


def test_what_a_call_does_follows_from_its_name_and_arguments() -> None:
    arguments = {"path": "/w/a", "original_content": "x", "new_content": "y"}
    change = FileChange("/w/a", "@@ -1 +1 @@\n-x\n+y", 1, 1)
    call = eca_call("t", "edit_file", "eca", details=change, arguments=arguments)
    assert (call.kind, call.verb, call.origin) == (ToolKind.EDIT, "edit", "native")
    assert (call.title, call.locations) == ((FileName("/w/a"),), (Location("/w/a"),))
    assert call.changes == (FileChange("/w/a", change.diff, 1, 1, old="x", new="y"),)
    assert choices(call)[1].remembers == ("any edit_file on any server",)


def test_the_tool_of_another_server_is_not_known_by_its_name() -> None:
    theirs = eca_call("t", "read_file", "files", arguments={"path": "/etc/passwd"})
    assert (theirs.kind, theirs.verb, theirs.locations) == (ToolKind.OTHER, "", None)
    assert theirs.mentions == ("/etc/passwd",)
    assert known_tools.described(ToolCall("t")) == ToolCall("t")
