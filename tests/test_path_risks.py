"""Where paths lead: through links, into git folders, to files that run by themselves."""

import subprocess
from collections.abc import Sequence, Set
from itertools import permutations
from pathlib import Path

import pytest

from eca_nvim.path_risks import (
    OF_AGENTS,
    Folders,
    PathRisk,
    UnfitFolder,
    is_inside,
    is_project,
    may_be_project,
    path_risks,
)
from eca_nvim.server.find import KNOWN

GIT = ("git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always")
NAMED = ("-c", "user.name=a", "-c", "user.email=a@b")


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """Make a workspace beside another folder."""
    (tmp_path / "outside/keys").mkdir(parents=True)
    (tmp_path / "inside/src").mkdir(parents=True)
    return tmp_path / "inside"


def kinds(path: str | Path, folder: Path) -> Set[PathRisk]:
    return path_risks(str(path), (str(folder),)).keys()


def besides_a_link(path: str | Path, folder: Path) -> Set[PathRisk]:
    assert PathRisk.LINK in kinds(path, folder)
    return kinds(path, folder) - {PathRisk.LINK}


def git(*words: str | Path) -> None:
    subprocess.run([*GIT, *NAMED, *map(str, words)], check=True, capture_output=True)


@pytest.mark.parametrize("path", ["a.py", "src/new/b.py", "src/../a.py", "src", ".", "gitignore"])
def test_an_ordinary_path_leads_nowhere(inside: Path, path: str) -> None:
    (inside / "way").symlink_to("src")
    for written in (path, inside / path, f"way/../{path}"):
        assert path_risks(str(written), (str(inside),)) == {}
    assert kinds(inside / "way" / path, inside) == {PathRisk.LINK}


def test_links_lead_out(inside: Path) -> None:
    outside = inside.parent / "outside"
    (inside / "docs").symlink_to("../outside/keys")
    (inside / "file").symlink_to(outside / "secret")
    (inside / "broken").symlink_to("/no/such/place")
    (inside / "chain").symlink_to("src/chain")
    (inside / "src/chain").symlink_to(outside)
    (outside / "secret").write_text("x")
    found = {
        "docs/authorized_keys": "outside/keys/authorized_keys",
        "docs": "outside/keys",
        "docs/new/deep": "outside/keys/new/deep",
        "file": "outside/secret",
        "chain/x": "outside/x",
        "src/../docs/x": "outside/keys/x",
    }
    for path, real in found.items():
        for written in (path, f"{inside}/{path}"):
            told = path_risks(written, (str(inside),))
            assert told == {PathRisk.OUTSIDE: str(inside.parent / real)}, written
    assert path_risks("broken", (str(inside),)) == {PathRisk.OUTSIDE: "/no/such/place"}
    assert kinds("docs/../x", inside) == {PathRisk.OUTSIDE}  # which programs read differently
    assert kinds("docs", inside.parent) == set()


def test_a_link_within_the_workspace_leads_elsewhere(inside: Path) -> None:
    (inside / "way").symlink_to("../outside")
    (inside / "README.md").symlink_to("src/run.sh")
    folders = (str(inside), str(inside.parent / "outside"))
    assert path_risks("way/x", folders) == {PathRisk.LINK: str(inside.parent / "outside/x")}
    assert path_risks("README.md", folders) == {PathRisk.LINK: str(inside / "src/run.sh")}


def test_a_workspace_that_is_itself_a_link(inside: Path) -> None:
    folder = inside.parent / "link"
    folder.symlink_to(inside)
    assert kinds("src/a.py", folder) == set()
    (inside / "out").symlink_to("..")
    assert kinds("out/x", folder) == {PathRisk.OUTSIDE}


def test_a_git_folder_is_known_by_name_and_by_what_is_in_it(inside: Path) -> None:
    git("init", inside)
    for path in (".git", ".git/hooks/pre-commit", ".GIT/config", "src/.git/x"):
        assert kinds(path, inside) == {PathRisk.GIT}
    assert kinds(".github/x", inside) == kinds(".gitignore", inside) == set()
    (inside / "hooks").symlink_to(".git/hooks")
    assert besides_a_link("hooks/pre-commit", inside) == {PathRisk.GIT}
    git("init", "--bare", inside / "src/other")
    assert kinds("src/other/hooks/post-update", inside) == {PathRisk.GIT}


def test_git_folders_of_submodules_and_work_trees(inside: Path) -> None:
    library, tree = inside.parent / "library", inside / "tree"
    for folder in (library, inside):
        git("init", folder)
        git("-C", folder, "commit", "--allow-empty", "-m", "x")
    git("-C", inside, "submodule", "add", library, "library")
    git("-C", inside, "worktree", "add", tree)
    git("init", "--separate-git-dir", inside / "meta", inside / "apart")
    for path in ("library/.git", ".git/modules/library/config", "tree/.git", "meta/hooks/x"):
        assert kinds(path, inside) == {PathRisk.GIT}, path
    assert kinds(inside / ".git/worktrees/tree/gitdir", tree) == {PathRisk.GIT}
    assert kinds("apart/a.py", inside) == kinds("library/a.py", inside) == set()


def test_what_runs_in_the_editor_or_configures_the_agent(inside: Path) -> None:
    for name in (".nvim.lua", ".nvimrc", ".exrc", ".NVIM.lua", "src/.exrc"):
        assert kinds(name, inside) == {PathRisk.EDITOR}
    (inside / "plain").symlink_to(".nvim.lua")
    assert besides_a_link("plain", inside) == {PathRisk.EDITOR}
    for name in (".eca/config.json", "src/.claude/settings.json", ".mcp.json", ".QWEN/a.json"):
        assert kinds(name, inside) == {PathRisk.AGENT}
    tree = inside / ".claude" / "worktrees"
    tree.mkdir(parents=True)
    (inside / "tree").symlink_to(tree)
    assert kinds("a.py", tree) == kinds("a.py", inside / "tree") == set()
    assert kinds(inside / ".claude" / "settings.json", tree) == {PathRisk.AGENT}
    assert kinds("nvim.lua", inside) == kinds("eca/config.json", inside) == set()


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "a" * 5000, "a/" * 500_000])
def test_what_no_file_can_be_called_leads_nowhere(inside: Path, path: str) -> None:
    assert path_risks(path, (str(inside),)) == {}


def test_links_in_a_circle_lead_nowhere(inside: Path) -> None:
    (inside / "a").symlink_to("b")
    (inside / "b").symlink_to("a")
    assert kinds("a/x", inside) == set()


OBEYED = {
    PathRisk.GIT: ".git/hooks/x .hg/hgrc .jj/repo/config.toml .sl/config .svn/hooks/x",
    PathRisk.SYSTEM: (
        ".bashrc .profile .ssh/authorized_keys .gitconfig .config/git/config .local/bin/ls "
        ".config/autostart/x.desktop .config/systemd/user/x.service .envrc .husky/pre-commit "
        ".gitattributes .gitmodules .BASHRC .config/nvim/init.lua .bashrc.d/x .zshrc.local "
        "lefthook.toml lefthook.yml .lefthook-local.yml .githooks/pre-commit mise.toml .env "
        ".config/mise/config.toml .tool-versions .env.local .gdbinit x.desktop .lintstagedrc.js"
    ),
    PathRisk.EDITOR: (
        ".nvim.lua .exrc .vimrc .vscode/tasks.json .VSCode./tasks.json .lazy.lua .dir-locals.el "
        ".helix/languages.toml .zed/tasks.json .devcontainer/devcontainer.json .emacs.d/init.el"
    ),
    PathRisk.AGENT: (
        "opencode.json opencode.jsonc .vscode/mcp.json .cursor/mcp.json .kiro/settings/mcp.json "
        ".roo/mcp.json .amp/settings.json .factory/mcp.json crush.json AGENTS.md sub/CLAUDE.md "
        ".nvim/eca/templates/a.md .mcp.json my-mcp-servers.toml .agents/skills/x AGENT.md "
        ".github/instructions/a.instructions.md .github/copilot-instructions.md .aider.conf.yml "
        ".continue/config.yaml .rules"
    ),
}
ORDINARY = (
    "Makefile package.json conftest.py flake.nix .github/workflows/ci.yml .cargo/config.toml "
    "src/config docs/HEAD spawn.py envrc config/nvim/init.lua .gitignore .editorconfig "
    "local/bin/x .local/x mcp.py a.desktop.txt misex.toml .clang-format .prettierrc"
)
"""What is code of the project: a build or a test runs it when the user runs that."""


@pytest.mark.parametrize("path", ORDINARY.split())
def test_ordinary_code_is_no_risk(path: str, inside: Path) -> None:
    assert kinds(path, inside) == set()


@pytest.mark.parametrize(
    ("workspace", "path", "risk"),
    [
        (".config/nvim", "init.lua", PathRisk.SYSTEM),
        (".emacs.d", "init.el", PathRisk.EDITOR),
        ("dotfiles", "x", None),
        ("dotfiles", "bashrc", PathRisk.SYSTEM),
        ("dotfiles", "editor/init.lua", PathRisk.SYSTEM),
        ("code/.claude/worktrees/x", "a.py", None),
    ],
)
def test_what_programs_load_from_the_home_folder_is_known_wherever_the_workspace_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    workspace: str,
    path: str,
    risk: PathRisk | None,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / workspace).mkdir(parents=True)
    (tmp_path / ".bashrc").symlink_to("dotfiles/bashrc")
    (tmp_path / ".config").mkdir(exist_ok=True)
    (tmp_path / ".config/linked").symlink_to("../dotfiles/editor")
    assert kinds(path, tmp_path / workspace) == ({risk} if risk else set())


def test_who_writes_the_last_name_of_a_git_folder_makes_one(inside: Path) -> None:
    """In any order: two of the names may be there already, the third is asked about."""
    for order in permutations(("HEAD", "objects/.keep", "refs/.keep")):
        folder = inside / "-".join(it[0] for it in order)
        for path in order[:2]:
            assert kinds(folder / path, inside) == set()
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).touch()
        assert kinds(folder / "config", inside) == set()
        assert kinds(folder / order[2], inside) == {PathRisk.GIT}
        (folder / order[2]).parent.mkdir(parents=True, exist_ok=True)
        (folder / order[2]).touch()
        assert kinds(folder / "config", inside) == {PathRisk.GIT}


@pytest.mark.parametrize(("risk", "path"), [(k, p) for k, v in OBEYED.items() for p in v.split()])
def test_what_programs_obey_is_known(risk: PathRisk, path: str, inside: Path) -> None:
    assert risk in kinds(path, inside)
    assert risk in kinds(inside / "deep" / path, inside)


def test_each_known_agent_obeys_something() -> None:
    assert {*KNOWN} <= {*OF_AGENTS}
    assert all(OF_AGENTS.values())


def test_the_home_folder_and_those_above_it_are_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home/me"
    (home / "code/.git").mkdir(parents=True)
    (home / ".git").mkdir()
    (tmp_path / "way").symlink_to(home)
    monkeypatch.setenv("HOME", str(tmp_path / "way"))
    for folder in ("/", tmp_path, home.parent, home, tmp_path / "way", Path.home()):
        assert not is_project(str(folder)), folder
        assert not may_be_project(str(folder)), folder
    assert is_project(str(home / "code"))
    assert may_be_project(str(tmp_path / "home/other"))


@pytest.mark.parametrize("mark", [".git", ".jj", ".hg"])
def test_a_project_is_a_folder_of_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / mark).mkdir()
    (tmp_path / "code" / mark).mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    assert is_project(str(tmp_path / "code"))
    assert is_project(str(tmp_path / "code/deep/er"))
    assert not is_project(str(tmp_path / "notes")), "the repository above it is the home folder"
    assert may_be_project(str(tmp_path / "notes"))


def test_a_folder_is_added_by_its_real_path_and_removed(inside: Path) -> None:
    other, link = inside.parent / "outside", inside.parent / "link"
    link.symlink_to(other)
    folders = Folders((str(inside),))
    shared: Sequence[str] = folders
    assert folders.add(str(link)) == str(other)
    assert list(shared) == [str(inside), str(other)]
    assert path_risks(str(other / "x"), shared) == {}
    with pytest.raises(UnfitFolder, match="is in the workspace"):
        folders.add(str(other / "keys"))
    link.unlink()
    link.symlink_to("/etc")
    assert PathRisk.OUTSIDE not in path_risks(str(other / "x"), shared)
    assert not is_inside("/etc/hosts", shared)
    assert folders.drop(f"{other}/") == str(other)
    assert list(shared) == [str(inside)]
    for fixed in (inside, other):
        with pytest.raises(UnfitFolder, match="was not added"):
            folders.drop(str(fixed))


def test_the_home_folder_and_those_above_it_are_not_added(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = inside.parent / "outside" / "keys"
    monkeypatch.setenv("HOME", str(home))
    link = inside.parent / "link"
    link.symlink_to(home)
    folders = Folders((str(inside),))
    for much in (home, link, home.parent, home.parent.parent, "/"):
        with pytest.raises(UnfitFolder, match="too much"):
            folders.add(str(much))
    (inside / "file").write_text("x")
    for nothing in ("keys", str(inside / "file"), str(home / "missing"), "a\0b"):
        with pytest.raises(UnfitFolder, match="there is no folder"):
            folders.add(nothing)
    assert folders.added == ()
