"""What a user of a soak does beside chats: windows, files, terminals, macros, previews."""

from __future__ import annotations

from tests.soak.user import Action, Fault, User

SIZES = ((80, 24), (120, 40), (160, 45), (100, 12), (60, 30), (20, 5))
ROOMY = 24
"""Lines of a terminal in which all windows have room."""
FILES = ("src/calc.py", "src/mod.lua", "README.md")
WINDOWS = (
    "only|split|vsplit|tabnew|tabclose|enew|close|wincmd w|wincmd p|wincmd H|wincmd J|wincmd =|"
    "bnext|tabonly|wincmd T"
)
DROPS = ("%bd!", "%bwipeout!", "tabonly! | silent! only!")
OTHERS = """
local splits = vim.tbl_filter(function(win)
  return vim.api.nvim_win_get_config(win).relative == ''
end, vim.api.nvim_list_wins())
return #splits > 2 or #vim.api.nvim_list_tabpages() > 1
"""
"""Whether there are windows beside a chat."""
PUT = "require('eca.preview').put({ buf = 0, first = 1, last = 1, lines = { 'one', 'two' } })"


def code(user: User) -> bool:
    """Go to a file; return whether it is there: with unsaved changes Neovim may refuse to."""
    user.ex(f"tab drop {user.one_of(FILES)}")
    user.keys("<Esc>")
    return user.current()[2].endswith(FILES)


def window(user: User) -> None:
    """Do what users do to windows. To close the transcript if only the chat is left ends Neovim."""
    command = user.one_of(WINDOWS)
    if command != "close" or user.lua(OTHERS):
        user.ex(f"silent! {command}")


def drop_buffers(user: User) -> None:
    """Delete all buffers, or all windows but one, while turns run."""
    user.mark("wiped")
    if user.nvim.launch.version == "0.10.4":
        # It ends, without any plugin, too, when the only window of another tab page loses its
        # buffer while a float is there.
        user.ex("silent! tabonly!")
    user.ex(f"silent! {user.one_of(DROPS)}")
    user.keys("<C-w>o")


def resize(user: User) -> None:
    """Change the size of the terminal, and back.

    Neovim breaks its memory, without any plugin, too, if it becomes so small that several windows
    with wrapped lines have no room.
    """
    sizes = (user.one_of(SIZES), user.one_of(SIZES), (120, 40))
    if min(lines for _, lines in sizes) < ROOMY:
        user.ex("silent! tabonly! | silent! only!")
    for columns, lines in sizes:
        user.note(f"resize {columns}x{lines}")
        user.normal()
        user.nvim.request("nvim_ui_try_resize", columns, lines)
        user.nvim.keys("")


def edit(user: User) -> None:
    """Write code while agents work: what is typed is in the file's buffer, in the same window."""
    if code(user):
        word = user.word()
        user.type(f"Go# {word}", word)
        user.keys(user.one_of(("<Esc>", "<Esc>u", "<Esc>:silent! write!<CR>", "<C-x><C-n><Esc>")))
        user.ex(user.one_of(("silent! tabclose!", "silent! wincmd p")))


def rewrite(user: User) -> None:
    """Have lines rewritten, or ask about them, and decide about that."""
    if code(user):
        user.ex(user.one_of(("1,3Eca rewrite as it was", "2Eca ask what is this", "1,2Eca act")))
        user.nvim.child.channel.pump(user.one_of((0, 0.3)))
        if user.chance.random() < 0.1:
            user.ex("if &buftype == '' | silent! undo | endif")  # not what came into an input
        else:
            user.keys(user.one_of(("do", "dO", "dx", "dX", "dC", "gg", "<Esc>")))


def put(user: User) -> None:
    """Put code into a buffer as a preview, and take or leave it."""
    user.ex(f"edit! {user.one_of(FILES)}")
    user.lua(PUT)
    user.lua(user.one_of(("require('eca').accept()", "require('eca').drop()", "return 1")))


def terminal(user: User) -> None:
    """Work in a terminal; requests that come meanwhile take no key of it."""
    user.ex("tabnew | terminal")
    user.nvim.wait_until("vim.fn.search([[\\S]], 'nw') > 0")  # else Neovim may end, see `opened.py`
    user.nvim.keys("iecho hello<CR>")
    user.ex("if &buftype == 'terminal' | bwipeout! | endif")


def command_line(user: User) -> None:
    """Type a command line slowly, and leave it: it stays as it was typed."""
    user.normal()
    user.nvim.keys(":echo 'half a line")
    user.nvim.child.channel.pump(0.2)
    line = user.nvim.eval("getcmdline()")
    if line != "echo 'half a line":
        raise Fault(f"the command line is {line!r}")
    user.nvim.keys("<C-c>")


def macro(user: User) -> None:
    """Record a macro in a file and run it."""
    if code(user):
        user.nvim.keys("qqA.<Esc>q3@qu")


def complete(user: User) -> None:
    """Open the menus of the input, and completion in code."""
    for text in ("@", "@src/", "/", "#", "@sym") if user.input() else ():
        user.nvim.keys(f"Go{text}")
        user.nvim.child.channel.pump(0.1)
        user.nvim.keys("<C-e><C-u><Esc>")


def fields(user: User) -> None:
    """Paste into the input, take that back, and use its history."""
    if user.input():
        user.keys("G$")  # inside a word the lines would stay in it
        user.nvim.paste("a long text\n" * 50)
        user.keys("<Esc>:silent! %s/a long text//e<CR>")
        user.keys("i<M-p><M-p><M-n><M-n><Esc>")


ACTIONS = (
    *(Action(10, window), Action(3, drop_buffers), Action(5, resize), Action(8, edit)),
    *(Action(6, rewrite), Action(2, put), Action(2, terminal), Action(2, command_line)),
    *(Action(2, macro), Action(3, complete), Action(2, fields)),
)
