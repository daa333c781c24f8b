"""Rows about editor/getDiagnostics: after `DIAGNOSE`, Neovim has the diagnostics."""

from tests.generations.row import Row, Value, ask, turn

DIAGNOSE = """
vim.fn.writefile({ 'né😀 = 1' }, 'src/calc.py')
vim.cmd.badd('src/calc.py')
local buffer = vim.fn.bufnr('src/calc.py')
vim.fn.bufload(buffer)
local kinds = vim.diagnostic.severity
local place = { lnum = 0, col = 8, end_lnum = 0, end_col = 10 }
vim.diagnostic.set(vim.api.nvim_create_namespace('rows'), buffer, vim.tbl_map(function(more)
  return vim.tbl_extend('error', place, more)
end, {
  { severity = kinds.ERROR, message = 'an error', source = 'linter', code = 501 },
  { severity = kinds.WARN, message = 'a warning', source = 'linter', code = 'w-1' },
  { severity = kinds.INFO, message = 'a remark' },
  { severity = kinds.HINT, message = 'a hint' },
}))
"""
"""Diagnostics after characters of two and four bytes, one and two UTF-16 code units."""

URI = "file://$folder/src/calc.py"
OF_FILE = turn(ask("editor/getDiagnostics", {"uri": URI}))
PLACE = {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 8}}


def found(**fields: object) -> Value:
    """Expect an answer with this diagnostic."""
    return {"result": {"diagnostics": [fields]}}


ROWS = [
    Row(
        names="000-78 001-80",
        says="editor/getDiagnostics with uri",
        server=turn(
            ask("editor/getDiagnostics", {"uri": URI}),
            ask("editor/getDiagnostics", {"uri": "file://$folder/README.md"}),
            ask("editor/getDiagnostics", {"uri": "untitled:1"}),
        ),
        answered=[
            found(message="an error\n"),
            {"result": {"diagnostics": []}},
            {"error": {"code": -32602}},
        ],
        drawn=True,
    ),
    Row(
        names="000-79 001-81",
        says="editor/getDiagnostics without uri, with null, without params: of the workspace",
        server=turn(
            ask("editor/getDiagnostics", {}),
            ask("editor/getDiagnostics", {"uri": None}),
            ask("editor/getDiagnostics", None),
        ),
        answered=[found(uri=URI)],
        count={"(result)": 3, "(error)": 0},
        drawn=True,
    ),
    Row(
        names="000-80 001-82",
        says="diagnostic uri and message",
        server=OF_FILE,
        answered=[found(uri=URI, message="an error\n")],
        drawn=True,
    ),
    Row(
        names="000-81 001-83",
        says="diagnostic severity: error, warning, info, hint",
        server=OF_FILE,
        answered=[
            found(severity="error", message="an error\n"),
            found(severity="warning", message="a warning\n"),
            found(severity="info", message="a remark\n"),
            found(severity="hint", message="a hint\n"),
        ],
        drawn=True,
    ),
    Row(
        names="000-82 001-84",
        says="diagnostic source, which is required",
        server=OF_FILE,
        answered=[
            found(message="an error\n", source="linter"),
            found(message="a remark\n", source="Neovim"),
        ],
        drawn=True,
    ),
    Row(
        names="000-83 001-85",
        says="diagnostic range, from 1",
        server=OF_FILE,
        answered=[found(range=PLACE)],
        drawn=True,
    ),
    Row(
        names="000-84 001-86",
        says="diagnostic code, a text or none",
        server=OF_FILE,
        answered=[
            found(message="an error\n", code="501"),
            found(message="a warning\n", code="w-1"),
            found(message="a hint\n", code=None),
        ],
        drawn=True,
    ),
]
