"""The library: which templates there are, and which files are none."""

import os
import socket
from pathlib import Path

import pytest

from eca_nvim.session.templates.library import (
    LARGEST,
    Library,
    Source,
    TemplateFolders,
    read_library,
)

BUILTIN = {"commit", "document", "explain", "fix", "review", "tests", "why"}


class Places:
    """A user's folder and a project with one."""

    def __init__(self, home: Path) -> None:
        self.user = home / "config"
        self.root = home / "project"
        self.project = self.root / ".nvim/eca/templates"
        self.user.mkdir()
        self.project.mkdir(parents=True)

    def read(self) -> Library:
        return read_library(TemplateFolders(str(self.user)), [str(self.root)])

    def faults(self) -> list[str]:
        return list(self.read().faults)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_three_good_templates_come_along(tmp_path: Path) -> None:
    library = read_library(TemplateFolders(), [str(tmp_path)])
    assert set(library.templates) == BUILTIN
    assert not library.faults
    for found in library.templates.values():
        assert found.source is Source.BUILTIN
        assert found.template.description
        assert "{{" in found.template.body


def test_the_users_own_come_before_a_projects_and_these_before_ours(places: Places) -> None:
    (places.user / "commit.md").write_text("my commit")
    (places.project / "commit.md").write_text("their commit")
    (places.project / "review.md").write_text("their review")
    (places.project / "other.txt").write_text("no template")
    found = places.read().templates
    assert set(found) == BUILTIN
    assert found["commit"].template.body == "my commit"
    assert found["commit"].source is Source.USER
    assert found["review"].source is Source.PROJECT
    assert found["review"].shown == ".nvim/eca/templates/review.md"
    assert found["explain"].source is Source.BUILTIN


def test_no_folder_is_no_fault(tmp_path: Path) -> None:
    folders = TemplateFolders(str(tmp_path / "none"), "")
    assert set(read_library(folders, [str(tmp_path)]).templates) == BUILTIN


def test_a_digest_is_of_the_whole_file(places: Places) -> None:
    file = places.project / "a.md"
    file.write_text("---\nagent: plan\n---\nx")
    before = places.read().templates["a"].digest
    file.write_text("---\nagent: code\n---\nx")
    assert places.read().templates["a"].digest != before


def test_files_that_cannot_be_used_are_named_in_a_line(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = places.project
    (folder / "a-fault.md").write_text("---\nnmae: x\n---\nx")
    (folder / "b-large.md").write_text("x" * (LARGEST + 1))
    (folder / "c-bytes.md").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(folder / "d-pipe.md")
    (folder / "e-folder.md").mkdir()
    (folder / "f-zero.md").symlink_to("/dev/zero")
    (folder / "g-gone.md").symlink_to("nowhere")
    (folder / "h \x1b[31m\n.md").write_text("x")
    (folder / "i-twin.md").write_text("---\nname: j-twin\n---\nx")
    (folder / "j-twin.md").write_text("y")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(folder)  # the name of a socket is short
        listening.bind("k-socket.md")
        found = places.faults()
    at = ".nvim/eca/templates/"
    assert found == [
        f"{at}a-fault.md:2: unknown key 'nmae'",
        f"{at}b-large.md: not read: larger than 100 kB",
        f"{at}c-bytes.md: not read: it is not UTF-8 text",
        f"{at}d-pipe.md: not read: it is not a regular file",
        f"{at}e-folder.md: not read: it is not a regular file",
        f"{at}f-zero.md: not read: a link leads out of its folder",
        f"{at}g-gone.md: not read: No such file or directory",
        f"{at}h ␛[31m␤.md: a name has only letters, digits, '-', '_' and '.'",
        f"{at}j-twin.md: {at}i-twin.md has the name 'j-twin', too",
        f"{at}k-socket.md: not read: it is not a regular file",
    ]
    assert set(places.read().templates) == {*BUILTIN, "j-twin"}


def test_no_link_leads_out_of_a_projects_folder(places: Places, tmp_path: Path) -> None:
    secret = places.root / ".env"
    secret.write_text("KEY=1")
    (places.project / "a.md").symlink_to(secret)
    (places.project / "b.md").symlink_to(tmp_path / "project/.nvim/eca/templates/c.md")
    (places.project / "c.md").write_text("fine")
    library = places.read()
    assert set(library.templates) == {*BUILTIN, "b", "c"}
    assert [it.split(": ", 1)[1] for it in library.faults] == [
        "not read: a link leads out of its folder"
    ]


def test_no_link_leads_a_projects_folder_out_of_it(places: Places, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    places.project.rmdir()
    places.project.symlink_to(outside)
    assert set(places.read().templates) == BUILTIN
    assert "leads out" in places.faults()[0]


def test_a_user_may_link_his_own(places: Places, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.md"
    kept.write_text("mine")
    (places.user / "mine.md").symlink_to(kept)
    assert places.read().templates["mine"].template.body == "mine"
