"""With a plugin manager: the lines of the README, with another address."""

import subprocess
from pathlib import Path

import pytest
from tests.doc.documents import snippets
from tests.install.conftest import User, assert_chat_works, copy_plugin

# What lazy.nvim does with a specification: it clones, runs `build.lua` in a coroutine, and to load
# the plugin adds it to the runtime path and sources the files in `plugin/`.
LAZY = """
local spec, folder = %s, %s
assert(spec.url == 'REPOSITORY' and spec.name == 'eca' and spec.lazy == false)
assert(not spec.build)
coroutine.wrap(loadfile(folder .. '/build.lua'))()
for _, key in ipairs(spec.keys) do
  vim.keymap.set(key.mode or 'n', key[1], key[2], { desc = key.desc })
end
vim.opt.runtimepath:prepend(folder)
vim.go.loadplugins = false
vim.cmd('silent! runtime plugin/rplugin.vim')
vim.cmd.source(folder .. '/plugin/eca.lua')
"""


def test_lazy(user: User) -> None:
    """The README's specification, with what lazy.nvim does imitated: no package index has it."""
    spec = snippets("## Install", "lua")[0]
    plugin = copy_plugin(user.folder("data") / "lazy" / "eca")
    user.configure(LAZY % (spec, f"'{plugin}'"))
    nvim = user.start()
    assert user.builds() == [plugin.resolve()]
    assert_chat_works(nvim)


def test_vim_pack(user: User, tmp_path: Path) -> None:
    if user.launch.version < "0.12":
        pytest.skip("vim.pack came with Neovim 0.12")
    repository = make_repository(tmp_path / "eca-nvim-client")
    (lines,) = snippets("### vim.pack (Neovim 0.12)", "lua")
    user.configure(lines.replace("REPOSITORY", f"file://{repository}"))
    nvim = user.start()
    nvim.wait_screen("These plugins will be installed")
    nvim.keys("y")
    plugin = user.folder("data") / "site" / "pack" / "core" / "opt" / "eca"
    nvim.wait_for(lambda: user.builds() == [plugin.resolve()], "the build step")
    nvim.wait_for((plugin / ".venv").exists, "the environment")
    assert_chat_works(nvim)


def make_repository(folder: Path) -> Path:
    """Make a Git repository of the plugin as it is now."""
    copy_plugin(folder)
    git = ["git", "-c", "user.name=somebody", "-c", "user.email=somebody@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder
