"""Tests with a real Neovim and its screen.

A test takes `nvim` (100 by 24, started in a copy of the recordings' workspace) or `start_nvim`, and
runs once with each Neovim version (`pytest --nvim=0.12.4` narrows)::

    def test_chat_opens(start_nvim: StartNeovim, demo_server: list[str]) -> None:
        nvim = start_nvim(settings={"server": {"command": demo_server}}, columns=160, lines=40)
        nvim.keys(":EcaChat hello<CR>")
        screen = nvim.wait_screen("Hello!")
        assert screen.groups_at(*screen.find("Hello!")) == ("Title",)

Typing        `keys("ihi<Esc>")` waits until consumed, or until Neovim stops at a prompt; `input`
              waits for nothing. `paste(text)`, `click(row, column)`.
Looking       `screen.lines()`, `.text()`, `"x" in screen`, `.find(text)`, `.cursor`, `.mode`,
              `.highlight_at(row, col)`, `.groups_at(row, col)` (links followed), `.bordered()`.
              `nvim.screen` is a frozen picture: take it again after every wait.
Waiting       `wait_screen(text | pattern | predicate)`, `wait_until(lua_expression)`,
              `wait_for(python_condition, "what for")`. Never sleep; all have deadlines, and print
              the screen and `:messages` when they fail.
Asking        `lua(code, *args)`, `command(ex)`, `eval(expr)`, `mode`, `messages()`,
              `buffer_lines()`, `notifications`. They hang until their deadline at "Press ENTER"
              and its like: `blocked()` tells, `keys("<CR>")` leaves it.
Golden        `assert_screen(nvim, "name")` (tests/ui) waits for `tests/ui/golden/name.txt`, and
              `golden.assert_golden(text, path)` compares any text; UPDATE_GOLDEN=1 writes them.
Errors        Shown errors fail the test when it ends. `take_errors()` returns and forgets those the
              test wants; `nvim.check_errors = False` opts out.
Ending        `quit()`, `kill(signal.SIGKILL)` return the exit status; `resize(columns, lines)`.
              Whatever Neovim started must be gone 2 s later, else it is killed and the test fails.
Processes     `nvim.pid`, `nvim.child.descendants()`; `processes.wait_gone(pids, timeout)`.

Servers, each a process; give `server.command` to `settings={"server": {"command": …}}`:

`replay(name, speed=0)`      plays a recording of the real server; at the end of the test
                             `server.assert_as_recorded(nvim)` quits Neovim and reads the report.
`scripted_server(*parts)`    performs what the words of `tests/support/script.py` say, for all that
                             no recording has: `scripted_server(handshake(), turn(stream(2000)))`.
                             `server.received("chat/prompt")`, `.answers()` tell what came;
                             `nvim.wait_for(lambda: server.received("exit"), "the farewell")`.
`demo_server`                is the command of the built-in demo agent itself.

Types of the fixtures that are functions are in `tests/support/factories.py`.
Tests without Neovim start nothing of this and need no fixture from here.
"""
