"""No file is so long, and no function, that one loses the thread while reading it."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
"""Lines, at most. A test may tell a whole story on a screen."""

LISTED = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py", "*.lua"]
CODE = [
    it
    for it in map(Path, subprocess.check_output(LISTED, cwd=REPOSITORY, text=True).split("\0")[:-1])
    if (REPOSITORY / it).exists()
]
BEGIN = re.compile(r"^(\s*).*\bfunction\b[^()]*\([^()]*\)$")
"""A Lua function of several lines; formatted code ends it by an `end` that is indented alike."""


def python_functions(code: str) -> Iterator[tuple[str, int]]:
    """Yield the names of functions, and how many lines each has."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def lua_functions(code: str) -> Iterator[tuple[str, int]]:
    """Yield the first lines of functions, and how many lines each has."""
    lines = code.splitlines()
    for number, line in enumerate(lines):
        if found := BEGIN.match(line):
            end = re.compile(rf"{found[1]}end\b")
            yield line, next(at for at, it in enumerate(lines[number:], 1) if end.match(it))


@pytest.mark.parametrize("path", CODE, ids=str)
def test_no_file_and_no_function_is_too_long(path: Path) -> None:
    code = (REPOSITORY / path).read_text()
    assert code.count("\n") <= LONGEST_FILE
    functions = python_functions(code) if path.suffix == ".py" else lua_functions(code)
    too_long = [it for it in functions if it[1] > LONGEST_FUNCTION]
    assert too_long == [] or path.parts[0] == "tests"


def test_functions_are_found_in_both_languages() -> None:
    assert [*python_functions("def a() -> None:\n    b()\n")] == [("a", 2)]
    assert [*lua_functions("f(function(a)\n  x()\nend)\n")] == [("f(function(a)", 3)]
