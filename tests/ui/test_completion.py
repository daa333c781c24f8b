"""Completion in the input, typed on a real screen without any plugin."""

from pathlib import Path

from tests.support.factories import StartNeovim
from tests.ui.completed import GREET, PATHS, answer, asked, item, menu, open_input, start, text
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, question, sent

WORDS = ("cursor", "diagnostics", "quickfix", "diff")


def test_a_menu_opens_and_narrows(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim)
    nvim.keys("see @")
    assert asked(nvim) == [("@", "")]
    assert menu(nvim) == []
    answer(nvim, "@", "", *map(item, PATHS), final=False)
    assert menu(nvim) == [*PATHS]
    nvim.wait_screen("src/calc.py file")
    nvim.keys("i")
    nvim.keys("o")
    assert asked(nvim) == [("@", ""), ("@", "i"), ("@", "io")]
    assert menu(nvim) == ["src/io.py"]
    answer(nvim, "@", "i", item("lib/i.c"))
    assert menu(nvim) == ["src/io.py"]
    answer(nvim, "@", "io", item("lib/io.c"), item("src/io.py"))
    assert menu(nvim) == ["src/io.py", "lib/io.c"]
    nvim.keys("<C-n>")
    answer(nvim, "@", "io", item("lib/io.c"), item("src/io.py"), item("io"))
    assert menu(nvim) == ["src/io.py", "lib/io.c"]
    assert text(nvim) == "see @src/io.py"
    nvim.keys("<C-n><C-y>")
    assert text(nvim) == "see @lib/io.c"
    assert menu(nvim) == []
    nvim.keys(" and @")
    assert menu(nvim) == [*PATHS]
    assert asked(nvim)[3:] == [("@", "")]
    nvim.keys("cal")
    nvim.keys("<Down><CR>")
    assert text(nvim) == "see @lib/io.c and @src/calc.py"
    nvim.keys(" (@<CR>x")
    assert text(nvim) == "see @lib/io.c and @src/calc.py (@\nx"


def test_a_chat_that_an_autocommand_opens_completes(start_nvim: StartNeovim) -> None:
    opening = f"require('eca').open({{ chat = '{CHAT}' }})"
    on_start = f"vim.api.nvim_create_autocmd('VimEnter', {{ callback = function() {opening} end }})"
    nvim = start_nvim(init=f"{WITHOUT_HOST}{on_start}", columns=80)
    nvim.wait_until("vim.bo.filetype == 'eca-input'")
    nvim.keys("i")
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0 }) > 0")
    nvim.keys("@")
    assert asked(nvim) == [("@", "")]


WORD_MENU = "if vim.fn.exists('+autocomplete') == 1 then vim.o.autocomplete = true end\n"
"""Neovim 0.12 completes words by itself, if the user has turned that on."""


def test_it_stays_out_of_the_way(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, init=WORD_MENU)
    nvim.keys("@")
    answer(nvim, "@", "", *map(item, PATHS))
    nvim.keys("<C-e>")
    assert menu(nvim) == []
    answer(nvim, "@", "", *map(item, PATHS))
    assert menu(nvim) == []
    nvim.keys("s")
    assert menu(nvim) == ["src/", "src/io.py", "src/calc.py"]
    nvim.keys("q")
    assert menu(nvim) == []
    assert "noselect" not in nvim.eval("&completeopt")
    nvim.keys("q")
    nvim.keys("<BS>")
    nvim.keys("<BS>")
    assert menu(nvim) == ["src/", "src/io.py", "src/calc.py"]
    nvim.keys("rc/io.py")
    assert menu(nvim) == []
    nvim.keys("<C-u>@s")
    nvim.keys("<Esc>")
    assert nvim.mode == "n"
    assert menu(nvim) == []
    nvim.keys("ccme@x.org 3/4 a#b `x` /x<CR>/in<CR>\\ @<BS>. @")
    assert menu(nvim) == [*PATHS]
    assert {trigger for trigger, _ in asked(nvim)} == {"@"}
    nvim.keys("<C-s>")
    assert nvim.lua("return vim.fn.pumvisible()") == 0
    assert text(nvim) == ""
    assert [it["text"] for it in sent(nvim, "prompt")] == ["me@x.org 3/4 a#b `x` /x\n/in\n\\ . @"]
    nvim.keys("x @")
    nvim.keys("<C-n><C-s>")
    assert text(nvim) == ""
    assert sent(nvim, "prompt")[-1]["text"] == "x @README.md"
    count = len(asked(nvim))
    nvim.keys("```py<CR>@s")
    assert menu(nvim) == []
    assert len(asked(nvim)) == count, "in a code block it is code"
    nvim.keys("<CR>```<CR>@s")
    assert menu(nvim) == ["src/", "src/io.py", "src/calc.py"]
    nvim.keys("<Esc>ggdGi")
    nvim.keys("abc abd a<C-n>")
    assert menu(nvim) == ["abc", "abd"]
    nvim.keys("<C-e><CR>@<C-x><C-f>")
    nvim.keys("<Esc>")
    nvim.command("wincmd h | enew | startinsert")
    count = len(asked(nvim))
    nvim.keys("@ src/ #<CR>/<Esc>")
    assert menu(nvim) == []
    assert len(asked(nvim)) == count
    assert nvim.eval("maparg('<CR>', 'i')") == ""
    assert nvim.eval("&completeopt") == nvim.lua("return vim.go.completeopt")
    assert "noselect" not in nvim.eval("&completeopt")


def test_folders_lead_on(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim)
    nvim.keys("#")
    answer(nvim, "#", "", item("my notes/"), item("src/"))
    nvim.keys("<C-n><C-y>")
    assert text(nvim) == "#my\\ notes/"
    assert asked(nvim)[-1] == ("#", "my notes/")
    answer(nvim, "#", "my notes/", item("my notes/"), item("my notes/to do.txt"))
    assert menu(nvim) == ["my\\ notes/to\\ do.txt"]
    nvim.keys("<Down><CR>")
    assert text(nvim) == "#my\\ notes/to\\ do.txt"
    assert menu(nvim) == []

    # What was listed for the beginning of a name is not in the folder that it names.
    nvim.keys("<C-u>#.")
    answer(nvim, "#", ".", *map(item, (".git/", "./", "a.b/", "./a.b/c")))
    nvim.keys("/")
    assert menu(nvim) == ["./a.b/c"]
    nvim.keys("a")
    assert menu(nvim) == ["./a.b/c"]
    nvim.keys("<C-u>#src")
    answer(nvim, "#", "src", *map(item, ("src/", "lib/src/", "s/r/c/x", "src/io.py")))
    nvim.keys("/")
    assert menu(nvim) == ["src/io.py"]


def test_arguments_are_asked_one_by_one(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim)
    nvim.keys("/")
    answer(nvim, "/", "", item("compact", "command", detail="Summarize the chat"), GREET)
    nvim.wait_screen("compact    Summarize the chat")
    nvim.keys("gr")
    nvim.keys("<C-n><C-y>")
    nvim.wait_screen("who (Whom to greet):")
    nvim.keys('Ann "B" C<CR>')
    nvim.wait_screen("how:")
    nvim.keys("loudly<CR>")
    nvim.wait_until("vim.api.nvim_get_current_line():find('loudly')")
    assert text(nvim) == "/mock:greet \"Ann 'B' C\" loudly"
    nvim.keys("!<Esc><CR>")
    assert sent(nvim, "prompt")[-1]["text"] == "/mock:greet \"Ann 'B' C\" loudly!"
    nvim.keys("i/mock:greet")
    nvim.keys("<Esc><CR>")
    nvim.wait_screen("who (Whom to greet):")
    nvim.keys("me<CR>")
    nvim.wait_screen("how:")
    nvim.keys("<Esc>")
    nvim.wait_until("vim.api.nvim_get_mode().mode == 'n'")
    assert text(nvim) == "/mock:greet me"
    assert len(sent(nvim, "prompt")) == 1
    nvim.keys("cc/mock:greet")
    nvim.keys("<C-n> now<Esc>")
    assert text(nvim) == "/mock:greet now"
    nvim.keys("<CR>")
    assert sent(nvim, "prompt")[-1]["text"] == "/mock:greet now"

    # A name of several words is chosen as any other.
    nvim.keys("i/s")
    answer(nvim, "/", "s", *(item(name, "command") for name in ("show", "memory show", "skills")))
    assert menu(nvim) == ["show", "skills", "memory show"]
    nvim.keys("<C-n><C-n><C-n>")
    assert text(nvim) == "/memory show"
    nvim.keys("<C-p>")
    assert text(nvim) == "/skills"
    nvim.keys("<C-n><C-y> x<Esc><CR>")
    assert sent(nvim, "prompt")[-1]["text"] == "/memory show x"


def test_a_terminal_is_offered_as_one(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, columns=80)
    nvim.command("terminal cat")
    terminal = nvim.eval("bufnr()")
    open_input(nvim)
    nvim.keys("@term")
    assert menu(nvim) == ["terminal", f"terminal:{terminal}"]


def test_the_editor_adds_what_it_knows(start_nvim: StartNeovim, workspace: Path) -> None:
    (workspace / ".git").mkdir()
    (workspace / "two words").write_text("x\n")
    for odd in ("odd \u202e%#{}", "odd \x01"):
        (workspace / odd).write_text("x\n")
    nvim = start_nvim("two words", init=WITHOUT_HOST, columns=80)
    nvim.lua("""
        vim.fn.setqflist({ { text = 'x' } })
        vim.diagnostic.set(vim.api.nvim_create_namespace('x'), 0, {
          { lnum = 0, col = 0, message = 'wrong' },
        })
        for _, name in ipairs(vim.fn.glob('odd*', true, true)) do
          vim.cmd.edit(vim.fn.fnameescape(name))
        end
        vim.cmd('edit missing.txt | enew | file scratch | set buftype=nofile')
        vim.cmd('buffer two')""")
    open_input(nvim)
    nvim.keys("@")
    first, *buffers = menu(nvim)[:3]  # in the order of the second in which they were used
    assert menu(nvim) == ["two\\ words", *buffers, *WORDS] == [first, *buffers, *WORDS]
    assert [it.startswith("buffer:") for it in sorted(buffers)] == [True, False]
    nvim.wait_screen("odd <U+202E>%#{} open")
    nvim.keys("<C-n><C-y> @q")
    assert menu(nvim) == ["quickfix"]
    words = item("cursor", "cursor"), item("quickfix", "quickfix")
    answer(nvim, "@", "q", *words, item("bad\nname"), item("q.txt"))
    assert menu(nvim) == ["quickfix", "q.txt", "cursor"]
    nvim.keys("<C-n><C-y> @q")
    assert menu(nvim) == ["q.txt", "quickfix", "cursor"]  # known already, so the best match first
    nvim.keys("<C-u>")
    nvim.keys("@two\\ words @quickfix<C-s>")
    (prompt,) = sent(nvim, "prompt")
    assert {it["type"] for it in prompt["contexts"]} >= {"file", "text"}


def test_a_file_with_the_name_of_a_word_is_a_path(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim)
    nvim.keys("@dif")
    answer(nvim, "@", "dif", item("diff"), item("./diff.txt"))
    assert menu(nvim)[-2:] == ["./diff", "./diff.txt"]
    nvim.wait_screen("./diff  ")


def test_answers_are_not_completed(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim)
    nvim.keys("<Esc>")
    draw(nvim, ["pending", [question()]])
    nvim.wait_screen("Answer>")
    nvim.keys("i@ #<CR>/")
    assert asked(nvim) == []
    assert menu(nvim) == []
    nvim.keys("<Esc>")


def test_an_answer_that_comes_late_opens_the_menu(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, "-c", "badd other.md")
    nvim.keys("@")
    answer(nvim, "@", "", *(item(word, word) for word in WORDS), final=False)
    assert menu(nvim) != []
    for key in "zq":
        nvim.keys(key)
    assert menu(nvim) == []
    answer(nvim, "@", "zq", item("src/zq.py"))
    assert menu(nvim) == ["src/zq.py"]
