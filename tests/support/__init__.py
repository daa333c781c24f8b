"""Tests with a real Neovim and its screen.

A test takes the fixture `nvim` (100 by 24, started in a copy of the recordings' workspace) or
`start_nvim`, and runs once with each Neovim version (`pytest --nvim=0.12.4` runs only one). Where a
version cannot matter, as what decides is in Python, or where rows go one path with other values,
`pytest.mark.either_nvim` has each row run with one of them, in turn (`--nvim=every` runs all)::

    def test_chat_opens(start_nvim: StartNeovim, demo_server: list[str]) -> None:
        nvim = start_nvim(settings={"server": {"command": demo_server}}, columns=160, lines=40)
        nvim.keys(":EcaChat hello<CR>")
        screen = nvim.wait_screen("Hello!")
        assert screen.groups_at(*screen.find("Hello!")) == ("Title",)

Typing        `keys("ihi<Esc>")` waits until Neovim has read the keys, or stops at a prompt;
              `input` does not wait. `paste(text)`, `click(row, column)`.
Looking       `screen.lines()`, `.text()`, `"x" in screen`, `.find(text)`, `.cursor`, `.mode`,
              `.highlight_at(row, col)`, `.groups_at(row, col)` (links followed), `.bordered()`.
              `nvim.screen` is a snapshot: take it again after every wait.
Waiting       `wait_screen(text | pattern | predicate)`, `wait_until(lua_expression)`,
              `wait_for(python_condition, "what for")`. Never sleep. All have deadlines, and print
              the screen and `:messages` if they fail: after 60 s, or after `PATIENCE=5` (from the
              environment) while you work on few tests and the machine is idle.
Asking        `lua(code, *args)`, `command(ex)`, `eval(expr)`, `mode`, `messages()`,
              `buffer_lines()`, `notifications`. At "Press ENTER" and other prompts they
              hang until their deadline: `blocked()` detects that, `keys("<CR>")` ends it.
Golden        `assert_screen(nvim, "name")` (tests/ui) waits for `tests/ui/golden/name.txt`, and
              `golden.assert_golden(text, path)` compares any text; UPDATE_GOLDEN=1 writes the
              files.
Errors        A test in which Neovim shows an error fails at its end, or in which an autocommand of
              ours changed windows. `take_errors()` returns and forgets expected ones;
              `nvim.check_errors = False` turns the check off.
Ending        `quit()`, `kill(signal.SIGKILL)` return the exit status; `resize(columns, lines)`.
              Processes that Neovim started must end by themselves, or the test fails.
Processes     `nvim.pid`, `nvim.child.descendants()`; `processes.wait_gone(pids, timeout)`;
              `with processes.adopting()`, then `statuses(pids)` tells how orphans ended.
Hosts         are forked from a process that has imported the plugin (`fork_server.py`): most of a
              start is imports. `require('eca.host').pid()` is then that of a stand-in, and what the
              host starts is in `child.family()` only, not among `descendants()`. A test of starts
              or of processes is marked `whole_start`; `pytest --whole-start` forks none.

Servers, each a process. Pass `server.command` in `settings={"server": {"command": …}}`:

`replay(name, speed=0)`      plays a recording of the real server; at the end of the test
                             `server.assert_as_recorded(nvim)` quits Neovim and reads the report.
`scripted_server(*parts)`    performs a script written with `tests/support/script.py`, for what no
                             recording has: `scripted_server(handshake(), turn(stream(2000)))`.
                             `server.received("chat/prompt")`, `.answers()` return what it got;
                             `nvim.wait_for(lambda: server.received("exit"), "the farewell")`.
`demo_server`                is the command of the built-in demo agent; `quick_demo` has no pauses.

The types of fixtures that are functions are in `tests/support/factories.py`.
Tests without Neovim need none of this.
"""
