"""Without a plugin manager: a package, a folder on the runtime path, and the shared host."""

import subprocess
from pathlib import Path

import pytest
from tests.doc.documents import snippets
from tests.install.conftest import User, assert_chat_works, copy_plugin

pytestmark = pytest.mark.either_nvim


def test_package(user: User) -> None:
    clone, build = snippets("### Without a plugin manager", "sh")
    target = clone.split()[-1]
    assert target.startswith("~/.local/share/nvim/site/pack/eca/start/")
    plugin = copy_plugin(user.folder("data") / target.removeprefix("~/.local/share/nvim/"))
    variables = user.launch.variables()
    subprocess.run(build, shell=True, cwd=plugin, env=variables, timeout=60, check=True)
    assert user.builds() == [plugin.resolve()]
    assert_chat_works(user.start())


def test_build_step_as_a_command(user: User) -> None:
    plugin = copy_plugin(user.folder("data") / "site" / "pack" / "eca" / "start" / "eca")
    nvim = user.start()
    nvim.keys(":Eca install<CR>")
    nvim.wait_for((plugin / ".venv").exists, "the environment")
    assert user.builds() == [plugin.resolve()]
    assert_chat_works(nvim)


READ_ONLY = """
local access = vim.uv.fs_access
vim.uv.fs_access = function(path, mode)
  return not (mode == 'W' and path == vim.uv.fs_realpath('{0}')) and access(path, mode)
end
vim.opt.runtimepath:prepend('{0}')
"""


def test_a_folder_that_cannot_be_written_gets_its_environment_elsewhere(user: User) -> None:
    plugin = copy_plugin(user.launch.home / "store" / "eca")
    user.configure(READ_ONLY.format(plugin))
    nvim = user.start()
    nvim.keys(":Eca install<CR>")
    place = user.folder("data") / "eca" / "python"
    nvim.wait_for((place / ".venv").exists, "the environment")
    assert user.builds() == [plugin.resolve()]
    assert not (plugin / ".venv").exists()
    assert_chat_works(nvim)
    assert list((place / "compiled").rglob("eca_nvim/*.pyc"))


def test_folder_on_the_runtime_path(user: User) -> None:
    (line,) = snippets("### Without a plugin manager", "lua")
    plugin = copy_plugin(user.launch.home / "home" / "src" / "eca")
    assert "'~/src/eca'" in line
    user.configure(line)
    (plugin / ".venv").symlink_to(user.environment)
    assert_chat_works(user.start())


def test_without_the_build_step_the_remedy_is_told(user: User) -> None:
    copy_plugin(user.launch.home / "home" / "src" / "eca")
    user.configure(*snippets("### Without a plugin manager", "lua"))
    nvim = user.start()
    nvim.keys(":EcaChat hello<CR>")
    nvim.wait_screen("run :Eca install")
    nvim.leave_prompt()
    nvim.take_errors()


def test_help_is_found(user: User) -> None:
    copy_plugin(user.launch.home / "home" / "src" / "eca")
    user.configure(*snippets("### Without a plugin manager", "lua"))
    nvim = user.start()
    nvim.command("helptags ALL | help :EcaChat")
    assert Path(nvim.eval("expand('%:p')")).name == "eca.txt"


def test_host_of_all_plugins(user: User) -> None:
    plugin = copy_plugin(user.folder("data") / "site" / "pack" / "eca" / "start" / "eca")
    (line,) = snippets("### :UpdateRemotePlugins", "lua")
    (user.folder("data") / "python").symlink_to(user.environment)
    user.configure(line)
    first = user.start()
    first.command("UpdateRemotePlugins", timeout=60)
    assert first.quit() == 0
    nvim = user.start()
    assert_chat_works(nvim)
    assert nvim.eval("exists('*EcaIntent')") == 1, "a host of our own was started"
    assert not (plugin / ".venv").exists()


def test_after_the_build_step_what_waited_is_sent(user: User) -> None:
    copy_plugin(user.folder("data") / "site" / "pack" / "eca" / "start" / "eca")
    nvim = user.start()
    nvim.keys(":EcaChat stream 20<CR>")
    nvim.wait_screen("run :Eca install")
    nvim.take_errors()
    nvim.wait_screen("⧗ stream 20")
    nvim.wait_screen("<CR> in the input runs it")
    nvim.keys("<CR>")
    nvim.wait_screen("◌ building")
    nvim.wait_screen(lambda screen: "line 12" in screen and "demo agent" in screen)
    assert "in the input runs it" not in nvim.screen
    nvim.wait_until("require('eca').status().state == 'idle'")
    assert "⧗ stream" not in nvim.screen
    nvim.take_errors()
    nvim.keys(":EcaChat show markdown<CR>")
    nvim.wait_screen("That is all.")


AGENT = """#!/bin/sh
exec "{python}" -I -c "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); \
runpy.run_module('eca_nvim.demo', run_name='__main__')" "{package}" "$@"
"""


def test_the_only_agent_on_the_path_answers_without_any_option(user: User) -> None:
    plugin = copy_plugin(user.folder("data") / "site" / "pack" / "eca" / "start" / "eca")
    (plugin / ".venv").symlink_to(user.environment)
    agent = user.programs / "gemini"
    python, package = user.environment / "bin" / "python", plugin / "rplugin" / "python3"
    agent.write_text(AGENT.format(python=python, package=package))
    agent.chmod(0o755)
    installed = user.folder("data") / "eca" / "servers" / "codex" / "state.json"
    installed.parent.mkdir(parents=True)  # another one: the first stays the one of new chats
    installed.write_text("{}")
    nvim = user.start()
    assert nvim.lua("return require('eca.state.servers').installed()") == ["codex"]
    nvim.keys(":EcaChat stream 20<CR>")
    nvim.wait_screen("line 12")
    nvim.wait_until("require('eca').status().state == 'idle'")
    assert nvim.lua("return require('eca').status().server_name") == "gemini"
    nvim.keys(":EcaChat show markdown<CR>")
    nvim.wait_screen("That is all.")
