"""Files that are opened in a window of the chat go to a window for files."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, assistant, numbered, open_view

# How pickers open files: fzf-lua and telescope edit in a callback and then set the cursor,
# mini.pick puts a buffer into the window in which it was started.
BY_PICKER = {
    "edit": "vim.cmd.edit('src/calc.py') vim.api.nvim_win_set_cursor(0, { 5, 2 })",
    "buffer": "vim.cmd.buffer(vim.fn.bufadd('src/calc.py')) vim.api.nvim_win_set_cursor(0, {5, 2})",
    "set_buf": """
        local win, buf = vim.api.nvim_get_current_win(), vim.fn.bufadd('src/calc.py')
        vim.bo[buf].buflisted = true
        vim.api.nvim_win_set_buf(win, buf)
        vim.api.nvim_win_set_cursor(win, { 5, 2 })""",
}

NO_ROOM = "vim.o.equalalways, vim.o.winminwidth = false, 15"


def place(view: View) -> list[object]:
    """Return the file of the current window, the cursor's line, and the mode."""
    code = "return { vim.fn.expand('%:t'), vim.fn.line('.'), vim.fn.mode() }"
    found: list[object] = view.nvim.lua(code)
    return found


@pytest.mark.parametrize("start", ["<Esc>", "<C-w>k"], ids=["input", "transcript"])
@pytest.mark.parametrize("how", BY_PICKER)
def test_a_picker_opens_its_file_beside_the_chat(
    start_nvim: StartNeovim, how: str, start: str
) -> None:
    view = open_view(start_nvim, "README.md")
    view.draw(*assistant(1, "first\nsecond"))
    view.nvim.keys(start)
    view.nvim.lua(f"vim.schedule(function() {BY_PICKER[how]} end)")
    view.nvim.wait_for(lambda: place(view) == ["calc.py", 5, "n"], "the file")
    assert view.windows() == ["calc.py", "chat", "input"]
    view.draw(*assistant(2, "third"))
    view.nvim.wait_screen("third")
    view.nvim.keys(":EcaChat<CR>")
    assert view.current() == "input"


@pytest.mark.parametrize(
    "keys", [":edit +5 src/calc.py<CR>", ":e! +5 src/calc.py<CR>", ":noa e +5 src/calc.py<CR>"]
)
def test_a_command_opens_its_file_beside_the_chat(start_nvim: StartNeovim, keys: str) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.keys(keys)
    view.nvim.wait_for(lambda: place(view)[:2] == ["calc.py", 5], "the file")
    assert view.windows() == ["calc.py", "chat", "input"]
    view.nvim.keys("<C-^>")
    assert view.windows() == ["README.md", "chat", "input"]


def test_a_file_goes_there_when_the_command_line_window_is_closed(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.keys("<Esc>:edit src/calc.py<CR>q:iecho 1")
    assert view.nvim.lua("return vim.fn.getcmdwintype()") == ":"
    view.nvim.keys("<Esc>:q<CR>")
    view.nvim.wait_for(lambda: view.windows() == ["calc.py", "chat", "input"], "the file")


@pytest.mark.parametrize(
    ("command", "file"),
    [("edit src/calc.py", "calc.py"), ("split src/calc.py", "")],
)
def test_who_opens_the_chat_right_after_a_file_types_in_its_input(
    start_nvim: StartNeovim, command: str, file: str
) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.keys(f"<Esc>:{command} | EcaChat<CR>ihere")
    view.nvim.wait_for(lambda: view.nvim.eval("getline('.')") == "here", "what was typed")
    files = [file] if file else ["calc.py", "README.md"]
    assert (view.current(), view.windows()) == ("input", [*files, "chat", "input"])


def rows(view: View) -> list[int]:
    """Return the rows of the chat's two windows, and the first one that the upper one shows."""
    upper, lower = "winnr('$') - 1", "winnr('$')"
    top = f"line('w0', win_getid({upper}))"
    found: list[int] = view.nvim.eval(f"[winheight({upper}), winheight({lower}), {top}]")
    return found


@pytest.mark.parametrize("start", ["<Esc>", "<Esc><C-w>k"], ids=["input", "transcript"])
def test_a_file_in_a_split_of_the_chat_splits_the_code(start_nvim: StartNeovim, start: str) -> None:
    view = open_view(start_nvim, "README.md", lines=60)
    view.draw(*assistant(1, numbered(1, 100)))
    before, both = rows(view), ["calc.py", "README.md", "chat", "input"]
    for command, layout in [("split", "col"), ("vsplit", "row"), ("sfind", "col")]:
        view.nvim.keys(f"{start}:{command} +5 src/calc.py<CR>")
        view.nvim.wait_for(lambda: view.windows() == both and rows(view) == before, "both")
        assert place(view)[:2] == ["calc.py", 5]
        split = "winlayout()[1][0][0]" if layout == "col" else "winlayout()[0]"
        assert view.nvim.eval(split) == layout
        view.nvim.keys(":quit<CR>:EcaChat<CR>")
        view.nvim.wait_for(lambda: rows(view) == before, "the chat as before")
    view.nvim.keys(f"{start}<C-w>v")
    assert sorted(view.windows()) == sorted(["README.md", "chat", "input", view.current()])


def test_a_split_at_the_edge_of_the_screen_stays_there(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.keys("<Esc>:botright split src/calc.py<CR>")
    view.nvim.lua("vim.schedule(function() vim.g.later = true end)")
    view.nvim.wait_until("vim.g.later")
    assert view.windows() == ["README.md", "chat", "input", "calc.py"]
    assert view.nvim.eval("winwidth(0) == &columns")


@pytest.mark.parametrize(
    ("room", "command", "chat"),
    [
        ("<C-w>t25<C-w>|:EcaChat<CR><Esc>", "vsplit", ["chat", "input"]),
        (":only<CR>", "split", ["input"]),
    ],
    ids=["narrow", "none"],
)
def test_where_no_code_can_be_split_its_window_shows_the_file(
    start_nvim: StartNeovim, room: str, command: str, chat: list[str]
) -> None:
    view = open_view(start_nvim, "README.md", init=NO_ROOM)
    view.nvim.keys(f"<Esc>{room}:{command} +5 src/calc.py<CR>")
    view.nvim.wait_for(lambda: view.windows() == ["calc.py", *chat], "the file")
    assert place(view)[:2] == ["calc.py", 5]


@pytest.mark.parametrize("only", ["input", "transcript"])
@pytest.mark.parametrize("keys", [":e src/calc.py<CR>", ":b calc.py<CR>", ":e README.md<CR>"])
def test_only_is_no_trap(start_nvim: StartNeovim, keys: str, only: str) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.command("badd src/calc.py")
    view.nvim.keys("<C-w>k" if only == "transcript" else "<Esc>")
    view.nvim.keys(f":only<CR>{keys}")
    name = "README.md" if "README" in keys else "calc.py"
    kind = "input" if only == "input" else "chat"
    view.nvim.wait_for(lambda: view.windows() == [name, kind], "a window for the file")
    assert place(view)[0] == name
    assert view.nvim.eval("len(filter(getbufinfo({'buflisted': 1}), 'empty(v:val.name)'))") == 0


@pytest.mark.parametrize("keys", ["<C-w>k<C-^>", "<C-^>", ":quit<CR>:EcaChat<CR><C-^>"])
def test_the_alternate_file_is_opened_beside_the_chat(start_nvim: StartNeovim, keys: str) -> None:
    view = open_view(start_nvim, "README.md", settings={"layout": "current"})
    view.nvim.keys("<Esc>" + keys)
    view.nvim.wait_for(lambda: view.windows() == ["README.md", "chat", "input"], "the file")
    assert view.current() == "README.md"


def test_the_alternate_file_is_opened_from_an_input_that_is_alone(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.keys(":only<CR><C-^>")
    view.nvim.wait_for(lambda: view.windows() == ["README.md", "input"], "the file")


def test_hiding_what_is_left_shows_the_last_file(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.keys(":only<CR>:Eca hide<CR>")
    assert view.windows() == ["README.md"]


def test_a_chat_that_floats_gives_way_to_the_file(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", settings={"layout": "float"})
    view.nvim.keys(":edit src/calc.py<CR>")
    view.nvim.wait_for(lambda: view.windows() == ["calc.py"], "the file alone")


def test_another_chat_is_shown_whole(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.draw(*assistant(1, "of the first"))
    view.open("two")
    view.nvim.keys("<Esc><C-w>k")
    view.nvim.command(f"buffer {view.buffer(CHAT)}")
    view.nvim.wait_screen("of the first")
    assert view.nvim.lua("return require('eca').status().chat") == CHAT
    assert view.windows() == ["README.md", "chat", "input"]


def test_a_file_with_changes_is_kept(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", init="vim.o.hidden = false")
    view.nvim.keys("<Esc><C-w>tiedited<Esc>:EcaChat<CR>:edit src/calc.py<CR>")
    view.nvim.wait_for(lambda: place(view)[0] == "calc.py", "the file")
    assert view.windows() == ["README.md", "calc.py", "chat", "input"]


def test_a_file_that_may_not_be_hidden_is_moved(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", init="vim.o.hidden = false")
    view.nvim.keys(":edit src/calc.py<CR>iedited<Esc>")
    view.nvim.wait_for(lambda: view.windows() == ["calc.py", "chat", "input"], "the changed file")
    view.nvim.keys(":write<CR>:EcaChat<CR>")
    view.nvim.keys(":enew<CR>:setlocal bufhidden=wipe<CR>:call setline(1, 'kept')<CR>")
    view.nvim.wait_for(lambda: view.windows() == ["", "chat", "input"], "the new text")
    assert view.nvim.eval("getline(1)") == "kept"


def test_a_folder_is_listed_beside_the_chat(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", init="vim.cmd.runtime('plugin/netrwPlugin.vim')")
    view.nvim.keys(":edit src<CR>")
    view.nvim.wait_until("vim.bo.filetype == 'netrw'")
    view.nvim.wait_for(lambda: view.windows()[1:] == ["chat", "input"], "the listing moved")
    view.nvim.take_errors()  # netrw removes mappings that it has not made


def test_a_file_stays_in_the_tab_page_of_its_chat(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    win = view.nvim.eval("win_getid()")
    view.nvim.keys(":tabnew src/greet.py<CR>")
    view.nvim.command(f"call nvim_win_set_buf({win}, bufadd('src/calc.py'))")
    shown = "vim.fn.bufname(vim.fn.tabpagebuflist(1)[1]) == 'src/calc.py'"
    view.nvim.wait_until(shown)
    assert view.windows() == ["greet.py"]
    view.nvim.keys("gt")
    assert view.windows() == ["calc.py", "chat", "input"]


def test_the_quickfix_list_does_not_split_the_chat(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.lua("vim.fn.setqflist({ { filename = 'src/calc.py', lnum = 5 } })")
    view.nvim.keys(":cfirst<CR>")
    view.nvim.wait_for(lambda: place(view)[:2] == ["calc.py", 5], "the file")
    assert view.windows() == ["calc.py", "chat", "input"]


def test_an_export_opens_beside_the_code_and_can_be_written(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.lua("""
        require('eca.host').ask = function(_, _, done) done('# All of it\\n') end
        require('eca.chat.output').export()""")
    assert view.windows() == ["", "README.md", "chat", "input"]
    view.nvim.keys(":write exported.md<CR>")
    assert view.windows()[0] == "exported.md"
    assert view.nvim.eval("readfile('exported.md')") == ["# All of it"]


def test_a_chat_that_floats_gives_way_to_a_file_that_it_names(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", settings={"layout": "float"})
    view.draw(*assistant(1, "no/such.py\nsrc/calc.py:5"))
    view.nvim.keys("<C-w>wgggf")
    assert view.windows() == ["README.md", "input", "chat"]
    view.nvim.keys("jgf")
    view.nvim.wait_for(lambda: view.windows() == ["calc.py"], "the file alone")
    assert place(view)[:2] == ["calc.py", 5]


def test_a_chat_that_floats_gives_way_to_the_help_and_the_log(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", settings={"layout": "float"})
    view.nvim.keys(":Eca help<CR>")
    assert view.windows() == ["eca.txt", "README.md"]
    view.nvim.keys(":quit<CR>")
    view.open()
    view.nvim.keys(":Eca log<CR>")
    assert view.windows() == ["eca.log", "README.md"]
    assert view.current() == "eca.log"


def test_a_chat_comes_back_when_its_buffers_were_wiped_out(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.nvim.keys(":silent! %bwipeout!<CR>")
    view.nvim.keys("<C-w>o:EcaChat<CR>")
    assert view.windows()[-2:] == ["chat", "input"]
