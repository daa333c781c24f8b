"""Unpacking Debian packages: which mirror is used, and what is left after a failure."""

import io
from pathlib import Path

import pytest

from scripts.setup import debian
from scripts.setup.debian import Source, machine_sources, mirror, parse_deb822, parse_one_line
from scripts.setup.progress import Progress, SetupError

ARCHIVE = "http://mirror.example/debian"


def test_one_line_format() -> None:
    text = (
        "# a comment\n\n"
        f"deb [arch=amd64 signed-by=/a.gpg] {ARCHIVE} bookworm main contrib # more\n"
        f"deb-src {ARCHIVE} bookworm main\n"
        f"#deb {ARCHIVE} sid main\n"
        f"deb {ARCHIVE} bookworm-updates main\n"
    )
    assert list(parse_one_line(text)) == [
        Source(ARCHIVE, ("bookworm",), ("main", "contrib")),
        Source(ARCHIVE, ("bookworm-updates",), ("main",)),
    ]


def test_deb822_format() -> None:
    text = (
        "# a comment\nTypes: deb deb-src\n"
        f"URIs: {ARCHIVE}\n# within\nSuites: bookworm\n bookworm-updates\nComponents: main\n"
        "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n"
        f"\nTypes: deb\nEnabled: no\nURIs: {ARCHIVE}\nSuites: sid\nComponents: main\n"
        f"\n\nTypes: deb-src\nURIs: {ARCHIVE}\nSuites: sid\nComponents: main\n"
    )
    assert list(parse_deb822(text)) == [
        Source(ARCHIVE, ("bookworm", "bookworm-updates"), ("main",))
    ]


def test_sources_of_both_formats_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "sources.list.d"
    folder.mkdir()
    (tmp_path / "sources.list").write_text("deb http://one.example/debian bookworm main\n")
    stanza = "Types: deb\nURIs: http://two.example/debian\nSuites: bookworm\nComponents: main\n"
    (folder / "b.sources").write_text(stanza)
    (folder / "c.list.disabled").write_text("deb http://three.example/debian bookworm main\n")
    found = [source.uri for source in machine_sources(tmp_path)]
    assert found == ["http://one.example/debian", "http://two.example/debian"]


def test_no_sources_at_all(tmp_path: Path) -> None:
    assert machine_sources(tmp_path) == []


def test_mirror_is_debian_itself() -> None:
    sources = [
        Source("http://other.example/tool", ("stable",), ("main",)),
        Source("http://sec.example/debian-security", ("bookworm-security",), ("main",)),
        Source("http://docker.example/linux/debian", ("bookworm",), ("stable",)),
        Source("http://mirror.example/debian/", ("bookworm", "bookworm-updates"), ("main",)),
    ]
    assert mirror(sources) == "http://mirror.example/debian/"


def test_mirror_under_another_path() -> None:
    assert mirror([Source("http://proxy.example/apt", ("bookworm",), ("main",))]).endswith("/apt")


def test_machine_that_is_no_debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "machine_sources", list)
    with pytest.raises(SetupError, match=r"no Debian archive.*neovim.*install it"):
        debian.unpack(_progress(tmp_path), "forky", ["neovim"], tmp_path / "out")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put stand-ins for apt-get and dpkg-deb on PATH; the former notes its words in `apt.txt`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _script(
        folder / "apt-get",
        f'echo "$*" >> {tmp_path}/apt.txt\n'
        'for word in "$@"; do case $word in -oDir::Cache=*) cache=${word#*=};; esac; done\n'
        '[ ! -e "$FAIL" ] && : > "$cache/archives/thing_1_all.deb"\n',
    )
    _script(folder / "dpkg-deb", 'cp "$2" "$3/unpacked"\n')
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr(debian, "machine_sources", lambda: [Source(ARCHIVE, ("x",), ("main",))])
    return tmp_path


def test_unpack_leaves_only_the_files(tools: Path) -> None:
    out = tools / "cache" / "out"
    out.mkdir(parents=True)
    (out / "half of an interrupted run").touch()
    debian.unpack(_progress(tools), "forky", ["thing"], out)
    assert [path.name for path in out.iterdir()] == ["unpacked"]
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    words = (tools / "apt.txt").read_text()
    assert " update\n" in words
    assert " -d install thing\n" in words
    assert f"-oDir::State={out}.apt" in words


def test_failed_download_tells_the_remedy(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", str(tools))
    out = tools / "cache" / "out"
    with pytest.raises(SetupError, match=r"package lists of forky: check the network \(details: "):
        debian.unpack(_progress(tools), "forky", ["thing"], out)
    assert list(out.parent.iterdir()) == []


def test_missing_tool_is_named(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tools / "nothing here"))
    with pytest.raises(SetupError, match="apt-get is not installed"):
        debian.unpack(_progress(tools), "forky", ["thing"], tools / "out")


def _progress(folder: Path) -> Progress:
    return Progress(folder / "setup.log", io.StringIO())


def _script(path: Path, text: str) -> None:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
