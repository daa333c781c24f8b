"""Markdown on a real screen: colours, concealed marks, and odd text."""

import re

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim with the chat open and nothing else, the cursor in the transcript."""
    nvim = start_nvim(init=WITHOUT_HOST, settings={"layout": "current"}, lines=30)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.command("wincmd k")
    return nvim


def show(nvim: Neovim, text: str) -> Screen:
    """Draw an answer of the agent and a last line that tells when it is on the screen."""
    draw(nvim, *chat_text(f"{text}\n\nthe end"))
    return nvim.wait_screen("the end")


def groups(screen: Screen, text: str) -> tuple[str, ...]:
    return screen.groups_at(*screen.find(text))


@pytest.mark.parametrize("marks", ["#", "##", "######", "   ###"])
def test_headings(stage: Neovim, marks: str) -> None:
    screen = show(stage, f"{marks} A heading with `code`\n#no heading\n####### neither")
    assert "Title" in groups(screen, "A heading")
    assert re.search(r"^ *A heading with code$", screen.text(), re.MULTILINE)
    assert "Title" not in groups(screen, "#no heading")
    assert "Title" not in groups(screen, "####### neither")


def note(nvim: Neovim, kind: str, *lines: str) -> Screen:
    """Draw a word of the system, as the host does, and a last line."""
    group = "EcaNote" if kind == "system" else "EcaError"
    marks = [[row, 0, -1, group] for row in range(len(lines))]
    body = [["open", CHAT, 7, kind, [], 0, None], ["body", CHAT, 7, lines, marks]]
    draw(nvim, *body, ["close", CHAT, 7])
    return show(nvim, "")


def test_words_of_the_system_are_markdown(stage: Neovim) -> None:
    screen = note(stage, "system", "# Welcome to it", "Type `/login`, [or not](https://x.y/z).")
    assert re.search(r"^ *Welcome to it$", screen.text(), re.MULTILINE)
    assert "Type /login, or not." in screen
    assert "Title" in groups(screen, "Welcome")
    assert "Comment" in groups(screen, "Type")
    assert "Comment" in groups(screen, "/login")


def test_faults_are_shown_as_they_came(stage: Neovim) -> None:
    screen = note(stage, "note", "# no `heading` of **anything**", "```", "* [no](link)")
    for line in "# no `heading` of **anything**", "```", "* [no](link)":
        assert line in screen
        assert groups(screen, line)[-1] == "DiagnosticError"


def test_a_fence_of_the_system_ends_with_its_note(stage: Neovim) -> None:
    screen = note(stage, "system", "```", "*left open*")
    assert "*left open*" in screen
    draw(stage, *chat_text("*leaning*", 8))
    screen = stage.wait_screen(lambda screen: "leaning" in screen and "*leaning*" not in screen)
    assert "italic" in screen.highlight_at(*screen.find("leaning"))


@pytest.mark.parametrize(
    ("text", "shown", "attributes"),
    [
        ("**strong**", "strong", {"bold"}),
        ("__strong__", "strong", {"bold"}),
        ("*leaning*", "leaning", {"italic"}),
        ("_leaning_", "leaning", {"italic"}),
        ("***both***", "both", {"bold"}),
        ("~~gone~~", "gone", {"strikethrough"}),
    ],
)
def test_emphasis(stage: Neovim, text: str, shown: str, attributes: set[str]) -> None:
    screen = show(stage, f"before {text} after")
    assert f"before {shown} after" in screen
    assert attributes <= set(screen.highlight_at(*screen.find(shown)))
    assert not attributes & set(screen.highlight_at(*screen.find("after")))


@pytest.mark.parametrize(
    ("text", "inner", "outer"),
    [
        ("**bold *both* bold**", {"bold", "italic"}, {"bold"}),
        ("**bold *both***", {"bold", "italic"}, {"bold"}),
        ("*bold **both** bold*", {"bold", "italic"}, {"italic"}),
        ("*bold **both***", {"bold", "italic"}, {"italic"}),
        ("~~bold **both**~~", {"bold", "strikethrough"}, {"strikethrough"}),
        ("__bold `both` bold__", {"bold"}, {"bold"}),
    ],
)
def test_nested_emphasis(stage: Neovim, text: str, inner: set[str], outer: set[str]) -> None:
    screen = show(stage, text)
    kinds = {"bold", "italic", "strikethrough"}
    assert set(screen.highlight_at(*screen.find("both"))) & kinds == inner
    assert set(screen.highlight_at(*screen.find("bold"))) & kinds == outer
    assert not re.search(r"[*_~`]", screen.lines()[screen.find("both").row])


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4",
        "snake_case_name",
        "a ** b",
        "**open",
        "__init__.py`",
        "x*",
        "5 ~ 6",
        "1_000_000",
    ],
)
def test_what_only_looks_like_emphasis_stays(stage: Neovim, text: str) -> None:
    assert f"say {text} now" in show(stage, f"say {text} now")


def test_code_in_a_line(stage: Neovim) -> None:
    screen = show(stage, "run `git **status**` or ``a ` b`` not `open")
    assert "run git **status** or a ` b not `open" in screen
    assert "String" in groups(screen, "git **status**")
    assert "String" not in groups(screen, "not `open")


def test_links(stage: Neovim) -> None:
    text = "[the docs](https://example.org/a_(b)) and <https://x.org> https://y.org/z."
    screen = show(stage, text)
    assert "the docs and https://x.org https://y.org/z." in screen
    for shown in ("the docs", "https://x.org", "https://y.org/z"):
        assert "Underlined" in groups(screen, shown)
    assert "Underlined" not in groups(screen, " and ")
    assert screen.highlight_at(*screen.find("the docs")).get("url") in (
        None,
        "https://example.org/a_(b)",
    )


def test_links_without_a_web_address_carry_no_url(stage: Neovim) -> None:
    regions = "return require('eca.markdown.inline').parse(...)"
    text = "[a](file:///etc/passwd) [b](javascript:x) [c](https://x.org/\x1b[31m)"
    assert [region.get("url") for region in stage.lua(regions, text)] == [None] * 9


def test_lists(stage: Neovim) -> None:
    screen = show(stage, "- one\n  * two\n+ three\n1. four\n12) five\n-no item")
    for line in ("• one", "  • two", "• three", "1. four", "12) five", "-no item"):
        assert re.search(rf"^ *{re.escape(line)}$", screen.text(), re.MULTILINE)
    assert "Special" in groups(screen, "• one")
    assert "Special" in groups(screen, "12) five")
    assert "Special" not in groups(screen, "one")


def test_task_boxes(stage: Neovim) -> None:
    screen = show(stage, "- [ ] open\n- [x] done\n- [X] also\n- [y] neither")
    assert "• ☐ open" in screen
    assert "• ☑ done" in screen
    assert "• ☑ also" in screen
    assert "• [y] neither" in screen


def test_quotes(stage: Neovim) -> None:
    screen = show(stage, "> said **so**\n> > twice\nnot > quoted")
    assert "▎ said so" in screen
    assert "▎ ▎ twice" in screen
    assert "not > quoted" in screen
    assert "Comment" in groups(screen, "said so")


@pytest.mark.parametrize("rule", ["---", "***", "_ _ _", "----------"])
def test_rules(stage: Neovim, rule: str) -> None:
    screen = show(stage, f"above\n\n{rule}\n\nbelow")
    assert "────────" in screen
    assert rule not in screen


def test_tables(stage: Neovim) -> None:
    show(stage, "| name | size |\n|------|-----:|\n| `a` | **12** |")
    screen = stage.wait_screen("a    │   12 │")
    assert "NonText" in groups(screen, "│ name")
    assert "NonText" in groups(screen, "├──────┼──────┤")
    assert "String" in groups(screen, "a    │   12 │")
    assert "NonText" not in groups(screen, "name")


def test_escaped_marks_are_shown_as_they_are(stage: Neovim) -> None:
    assert "a *b* c_d and a\\b" in show(stage, "a \\*b\\* c\\_d and a\\b")


def test_markers_show_where_text_is_selected_only(stage: Neovim) -> None:
    show(stage, "a **strong** word")
    stage.keys("gg0")
    stage.wait_screen("a strong word")
    stage.keys("v")
    stage.wait_screen("a **strong** word")
    stage.keys("<Esc>")
    stage.wait_screen("a strong word")


def test_yanked_text_has_its_markers(stage: Neovim) -> None:
    show(stage, "a **strong** word")
    stage.keys("ggyy")
    assert stage.eval("getreg('\"')") == "a **strong** word\n"


def test_only_what_the_agent_says_is_markdown(stage: Neovim) -> None:
    draw(
        stage,
        ["open", CHAT, 1, "user", [], 0, None],
        ["append", CHAT, 1, "my **own** words"],
        ["close", CHAT, 1],
        ["open", CHAT, 2, "tool", [["ran **it**", ""]], 0, None],
        ["body", CHAT, 2, ["`raw` output"], [], ""],
    )
    screen = stage.wait_screen("my **own** words")
    assert "ran **it**" in screen
    assert "`raw` output" in screen


def test_nothing_on_a_line_is_run(stage: Neovim) -> None:
    text = "%{execute('let g:owned=1')} <C-\\> \\e[31m `=execute('let g:owned=1')` ${x}"
    show(stage, text)
    assert stage.eval("exists('g:owned')") == 0


def test_very_long_lines_stay_plain(stage: Neovim) -> None:
    text = "**a** " * 200_000
    assert not stage.lua(
        "return (require('eca.markdown.line').parse(...) or {}).regions or {}", text
    )
    show(stage, text[:3000] + "\n" + text)
    assert stage.eval("v:errmsg") == ""


def test_hostile_marks_end_no_line_early(nvim: Neovim) -> None:
    """Regions lie in their line and never cut a character, whatever the line holds."""
    code = """
    math.randomseed(7)
    local pieces = { '*', '**', '_', '`', '``', '[', '](', ')', '<https://', '>', '~~', '\\\\',
      'ä', '😀', ' ', 'a', '# ', '> ', '- ', '[ ] ', '|', '1. ', 'https://x', '\\t', '%' }
    for _ = 1, 3000 do
      local text = ''
      for _ = 1, math.random(1, 14) do
        text = text .. pieces[math.random(#pieces)]
      end
      local parsed = require('eca.markdown.line').parse(text)
      for _, region in ipairs(parsed and parsed.regions or {}) do
        local cut = region.first < #text and vim.str_utf_start(text, region.first + 1) ~= 0
        cut = cut or (region.last < #text and vim.str_utf_start(text, region.last + 1) ~= 0)
        if region.first < 0 or region.last > #text or region.first > region.last or cut then
          return text
        end
      end
    end
    """
    assert nvim.lua(code) is None


def test_inline_code_is_not_broken(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(settings={"layout": "current"}, columns=41, init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    spoiled, item = "It spoils the full name by `.lower()`. Here:", "- and then call `:Eca changes`"
    draw(nvim, *chat_text(f"{spoiled}\n\n{item}"))
    below, beside = re.compile(r"name by *\n +\.lower\(\)\. Here:"), "name by .lower()."
    nvim.wait_screen(lambda it: below.search(it.text()) is not None)
    assert "   • and then call :Eca changes" in nvim.screen
    nvim.resize(60, 24)
    nvim.wait_screen(beside)
    nvim.resize(41, 24)
    nvim.wait_screen(lambda it: below.search(it.text()) is not None)
    nvim.keys("<C-w>k:set nowrap<CR>")
    nvim.wait_screen(beside)


def test_code_that_would_need_another_row_is_broken(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(settings={"layout": "current"}, columns=41, init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text(f"It is a path: `{'a/b.' * 7}c` and more words than fit\n\nthe end"))
    nvim.wait_screen("the end")
    nvim.wait_until("true")
    rows = [line for line in nvim.screen.lines() if "a/b" in line]
    assert len(rows) == 2
