"""What the tools of the MCP server `editor` answer."""

from pathlib import Path

import pytest
from tests.agents.client import FakeEditor

from eca_nvim.agents.base import Diagnostic, Location, NoAnswer, OpenBuffer
from eca_nvim.mcp.tools import LONGEST_MESSAGE, MOST_LINES, EditorTools, ToolFault, UnknownTool

pytestmark = pytest.mark.anyio

TEXT = "import os\n'ä😀' + rename(name)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src" / "a.py").write_text(TEXT)
    (tmp_path / "outside.py").write_text("secret\n")
    (workspace / "link.py").symlink_to(tmp_path / "outside.py")
    return workspace


async def call(
    editor: FakeEditor, folder: Path, tool: str, arguments: object = None, /, **more: object
) -> str:
    return await EditorTools(editor, (str(folder),)).call(tool, arguments or more)


async def fault(
    editor: FakeEditor, folder: Path, tool: str, arguments: object = None, /, **more: object
) -> str:
    with pytest.raises(ToolFault) as found:
        await call(editor, folder, tool, arguments, **more)
    assert "\n" not in str(found.value)
    return str(found.value)


def finding(path: Path, message: str) -> Diagnostic:
    return Diagnostic(str(path), 1, 4, 1, 6, "warning", message, "lint", "E1")


async def test_diagnostics_are_lines_that_count_from_1(folder: Path) -> None:
    path = folder / "src" / "a.py"
    editor = FakeEditor(found=[finding(path, "bad\n name")])
    expected = "src/a.py:2:5: warning: bad name [lint E1]"
    assert await call(editor, folder, "diagnostics") == expected
    for named in ("src/a.py", "src/../src/a.py", str(path), path.as_uri()):
        assert await call(editor, folder, "diagnostics", path=named) == expected
    assert editor.asked == [("diagnostics", None), *[("diagnostics", str(path))] * 4]
    assert await call(FakeEditor(), folder, "diagnostics") == "no diagnostics"


async def test_an_answer_is_bounded(folder: Path) -> None:
    found = [finding(folder / "b.py", "x" * 9000)] * (MOST_LINES + 50)
    lines = (await call(FakeEditor(found=found), folder, "diagnostics")).split("\n")
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == "… and 50 more: ask about one file"
    assert len(lines[0]) < LONGEST_MESSAGE + 50


@pytest.mark.parametrize(
    ("kind", "place", "column"),
    [
        ("definition", {"symbol": "name"}, 16),
        ("references", {"symbol": "rename"}, 9),
        ("references", {"symbol": "ä😀"}, 2),
        ("references", {"symbol": "ena"}, 10),
        ("definition", {"column": 21}, 21),
    ],
)
async def test_places_are_named_by_what_stands_there(
    folder: Path, kind: str, place: dict[str, object], column: int
) -> None:
    path = str(folder / "src" / "a.py")
    elsewhere = Location("/usr/lib/os.py", 7, 1, 7, 3)
    editor = FakeEditor(places=[Location(path, 2, 1, 2, 5), elsewhere], texts={path: TEXT})
    text = await call(editor, folder, kind, path="src/a.py", line=2, **place)
    assert text == "src/a.py:2:1\n/usr/lib/os.py:7:1"
    assert editor.asked[-1] == (kind, path, 2, column)


async def test_open_buffers_are_those_of_the_workspace(folder: Path) -> None:
    outside = OpenBuffer(str(folder.parent / "outside.py"), 1, modified=True, visible=True)
    opened = [
        OpenBuffer(str(folder / "src" / "a.py"), 2, modified=True, visible=True),
        outside,
        OpenBuffer(str(folder / "b.py"), 1, modified=False, visible=False),
    ]
    text = await call(FakeEditor(open=opened), folder, "open_buffers")
    assert text == "src/a.py:2 (visible) (modified)\nb.py:1"
    nothing = await call(FakeEditor(open=[outside]), folder, "open_buffers")
    assert nothing == "no file of the workspace is open"


@pytest.mark.parametrize("path", ["../outside.py", "link.py", "/etc/passwd"])
async def test_a_file_outside_is_known_only_if_it_is_open(folder: Path, path: str) -> None:
    editor = FakeEditor()
    line = await fault(editor, folder, "diagnostics", path=path)
    assert line == f"neither in the workspace nor open in the editor: {path!r}"
    assert await fault(editor, folder, "definition", path=path, line=1, symbol="s") == line
    assert {*editor.asked} == {("open_buffers",)}
    real = str((folder / path).resolve())
    editor.open = [OpenBuffer(real, 1, modified=False, visible=False)]
    assert await call(editor, folder, "diagnostics", path=path) == "no diagnostics"
    assert editor.asked[-1] == ("diagnostics", real)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "wrong arguments: Object missing required field `path`"),
        ({"path": 3, "line": 1}, "wrong arguments: Expected `str`, got `int` - at `$.path`"),
        ({"path": "a", "line": 0}, "wrong arguments: Expected `int` >= 1 - at `$.line`"),
        ([], "wrong arguments: Object missing required field `path`"),
        ("x", "wrong arguments: Expected `object`, got `str`"),
        ({"path": "src/a.py", "line": 2}, "give the symbol that stands in the line, or its column"),
        ({"path": "src/a.py", "line": 9, "column": 1}, "there are only 3 lines in 'src/a.py'"),
        (
            {"path": "src/a.py", "line": 1, "symbol": "sys"},
            "line 1 of 'src/a.py' does not have 'sys'",
        ),
        (
            {"path": "src/a.py", "line": 1, "column": 11},
            "line 1 of 'src/a.py' has only 9 columns",
        ),
        ({"path": "src/no.py", "line": 1, "column": 1}, "not opened, No such file or directory: "),
        ({"path": "src", "line": 1, "column": 1}, "not opened, it is not a regular file: "),
        ({"path": "a\0b", "line": 1, "column": 1}, "not opened, a path cannot have a NUL byte: "),
        ({"path": "file://far/a", "line": 1, "column": 1}, "not opened, a file on this machine"),
    ],
)
async def test_what_is_wrong_with_a_call_is_said(folder: Path, arguments: object, why: str) -> None:
    editor = FakeEditor(texts={str(folder / "src" / "a.py"): TEXT})
    assert (await fault(editor, folder, "definition", arguments)).startswith(why)
    assert editor.asked in ([], [("read", str(folder / "src" / "a.py"))])


async def test_a_language_server_that_is_missing_is_said(folder: Path) -> None:
    texts = {str(folder / "src" / "a.py"): TEXT}
    place = {"path": "src/a.py", "line": 1, "symbol": "os"}
    for answer, why in (
        (NoAnswer.STARTING, "the language server is starting: try again in some seconds"),
        (NoAnswer.NO_SERVER, "the editor has no language server for this file"),
    ):
        editor = FakeEditor(places=answer, texts=texts)
        assert await fault(editor, folder, "references", place) == why
    assert await call(FakeEditor(texts=texts), folder, "references", place) == "no references found"


async def test_a_tool_that_is_not_there(folder: Path) -> None:
    for name in ("write", None, 3):
        with pytest.raises(UnknownTool):
            await EditorTools(FakeEditor(), (str(folder),)).call(name, {})


async def test_without_a_workspace_only_open_files_are_known(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    tools = EditorTools(FakeEditor(open=[OpenBuffer(str(path), 1, False, False)]), ())
    assert await tools.call("diagnostics", {"path": str(path)}) == "no diagnostics"
    assert await tools.call("open_buffers", {}) == "no file of the workspace is open"
    with pytest.raises(ToolFault, match="is not the URI of a file"):
        await tools.call("diagnostics", {"path": "a.py"})
