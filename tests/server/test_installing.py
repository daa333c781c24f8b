"""Servers are got over HTTPS and used, or nothing has changed and a line says why."""

import gzip
import json
import lzma
import os
import resource
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.server import https_server
from tests.server.https_server import certificate, sum_of, tarred
from tests.support.launch import REPOSITORY

from eca_nvim.server import download
from eca_nvim.server.download import NotFetched, unpack
from eca_nvim.server.find import ECA, find_server
from eca_nvim.server.installed import versions

PACKAGES = REPOSITORY / "rplugin" / "python3"
RUN = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('eca_nvim.server.installer', run_name='__main__')"
)
COMMAND = (sys.executable, "-I", "-c", RUN, str(PACKAGES))
NO_PROXY = dict.fromkeys(("https_proxy", "HTTPS_PROXY", "all_proxy", "no_proxy"), "")


class Web:
    """The server of releases, and what it was asked for."""

    def __init__(self, folder: Path) -> None:
        made, key = certificate(folder)
        self.trust = {**NO_PROXY, "SSL_CERT_FILE": str(made)}
        self._log = folder / "log"
        self._process = subprocess.Popen(
            (sys.executable, https_server.__file__, str(made), str(key)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )
        assert self._process.stdout
        self.port, self.proxy = map(int, self._process.stdout.readline().split())

    def asked(self) -> str:
        """Return the next line of its log."""
        assert self._process.stdout
        return self._process.stdout.readline()

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    server = Web(tmp_path_factory.mktemp("web"))
    yield server
    server.close()


def finished(process: "subprocess.Popen[bytes]") -> Mapping[str, Any]:
    """Return what a process has answered at last."""
    assert process.stdout
    assert process.stdin
    assert process.stderr
    lines = [json.loads(it) for it in process.stdout]
    process.stdin.close()
    words = process.stderr.read().decode()
    process.stdout.close()
    process.stderr.close()
    process.wait()
    assert lines, words
    answer: Mapping[str, Any] = lines[-1]
    return answer


class Disk:
    """A folder of servers, and the process that changes it."""

    def __init__(self, web: Web, folder: Path) -> None:
        self.web = web
        self.folder = folder / "servers"

    def source(self, row: str) -> Mapping[str, object]:
        base = f"https://127.0.0.1:{self.web.port}/{row}"
        return {"folder": str(self.folder), "releases": base, "registry": base}

    def start(self, row: str, do: str, **more: object) -> "subprocess.Popen[bytes]":
        variables = more.pop("variables", {})
        assert isinstance(variables, dict)
        request = {"do": do, "name": ECA, "source": self.source(row), **more}
        process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **self.web.trust, **variables},
            start_new_session=True,
        )
        assert process.stdin
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        return process

    def ask(self, row: str, do: str, **more: object) -> Mapping[str, Any]:
        """Return what a request is answered with at last."""
        return finished(self.start(row, do, **more))

    def install(self, row: str, **more: object) -> str:
        """Plan and install; returns what is said at last."""
        planned = self.ask(row, "plan", **more)
        if "plan" not in planned:
            return str(planned.get("fault") or planned.get("done"))
        answer = self.ask(row, "install", plan=planned["plan"], **more)
        return str(answer.get("fault") or answer.get("done"))

    @property
    def used(self) -> str | None:
        """Which version is used."""
        current = versions(str(self.folder), ECA).current
        return None if current is None else current.version


@pytest.fixture
def disk(web: Web, tmp_path: Path) -> Disk:
    return Disk(web, tmp_path)


REFUSED = {
    "wrong": "its SHA-256 is wrong",
    "twosums": "two sums",
    "nosum": "nobody says the sum of this archive: type it",
    "nobuild": "has no build for",
    "missing": "does not exist (404)",
    "circle": "redirects in a circle",
    "plain": "has http instead of https: it is not followed",
    "local": "something else than https: not followed",
    "outside": "'../outside', which leads out of its folder",
    "absolute": "'/tmp/absolute', which leads out of its folder",
    "link": "'link', a link",
    "twice": "'Eca//x' twice",
    "empty": "the archive has no eca",
    "damaged": "the archive is damaged",
    "deaf": "it does not answer initialize, exit code 1: fatal: this build is broken",
    "always": "broke off after",
    "failing": "answers 503",
}


@pytest.mark.parametrize(("row", "line"), REFUSED.items(), ids=REFUSED)
def test_what_is_wrong_changes_nothing_and_is_said(row: str, line: str, disk: Disk) -> None:
    assert line in disk.install(row)
    assert disk.used is None
    left = [it for it in disk.folder.glob("*/*") if it.name != "lock"]
    assert [it.name for it in left if not it.name.startswith("download-")] == []
    assert find_server(ECA, {}, str(disk.folder)).label == "demo agent"


@pytest.mark.parametrize("row", ["good", "beside", "moved", "broken"])
def test_what_is_right_is_used(row: str, disk: Disk) -> None:
    assert disk.install(row) == "eca 1.0 is installed"
    assert disk.used == "1.0"
    found = find_server(ECA, {}, str(disk.folder))
    if not found.label.endswith("/bin/eca"):  # of this machine
        assert found.command[0].startswith(str(disk.folder))
        assert found.command[1:] == ("server",)
    names = {it.name for it in (disk.folder / ECA).iterdir()}
    assert {it for it in names if it.startswith("download")} == set()


@pytest.mark.parametrize("name", https_server.KINDS)
def test_an_archive_of_an_agent_is_that_for_this_machine(name: str, disk: Disk) -> None:
    """By the registry's list, in which the sum was wrong at first."""
    for row, line in (("wrong", REFUSED["wrong"]), ("good", f"{name} 1.5.0 is installed")):
        assert disk.ask(row, "refresh")["done"] == "4 agents are listed"
        assert line in disk.install(row, name=name)
    command = find_server(name, {}, str(disk.folder)).command
    assert command[0].startswith(f"{disk.folder}/{name}/1.5.0-")
    assert disk.ask("good", "undo", name=name)["fault"].startswith("no earlier version")
    assert disk.ask("good", "uninstall", name=name) == {"done": f"{name} is removed"}


def test_the_old_one_is_kept_until_the_new_one_answers_and_comes_back(disk: Disk) -> None:
    assert disk.ask("good", "undo")["fault"].startswith("no earlier version of eca is kept")
    assert disk.install("deaf").endswith("; set it up, then install it again")
    disk.install("good")
    assert "is the newest version, and installed" in disk.install("good")
    assert "the version before is still used" in disk.install("deaf")
    assert disk.used == "1.0"
    assert disk.install("newer") == "eca 2.0 is installed"
    assert disk.used == "2.0"
    assert disk.ask("good", "undo") == {"done": "eca 1.0 is used again"}
    assert disk.used == "1.0"
    assert Path(find_server(ECA, {}, str(disk.folder)).command[0]).exists()
    assert disk.ask("good", "uninstall") == {"done": "eca is removed"}
    assert not (disk.folder / ECA).exists()
    assert "nothing is removed" in disk.ask("good", "uninstall")["fault"]


def test_a_release_without_a_sum_needs_one_that_is_typed(disk: Disk) -> None:
    plan = disk.ask("nosum", "plan")["plan"]
    assert plan["sum"] == ""
    wrong = disk.ask("nosum", "install", plan={**plan, "sum": "0" * 64})
    assert "its SHA-256 is wrong" in wrong["fault"]
    right = disk.ask("nosum", "install", plan={**plan, "sum": sum_of("good")})
    assert right == {"done": "eca 1.0 is installed"}
    moved = disk.ask("nosum", "install", plan={**plan, "place": str(disk.folder / "x" / "1.0-a")})
    assert "nothing was done" in moved["fault"]


def test_no_network_an_unknown_authority_and_a_proxy(disk: Disk, web: Web) -> None:
    disk.install("good")
    away = {**disk.source("good"), "releases": "https://127.0.0.1:9/x"}
    fault = disk.ask("good", "plan", source=away)["fault"]
    assert "127.0.0.1 cannot be reached" in fault
    unknown = disk.ask("newer", "plan", variables={"SSL_CERT_FILE": "/dev/null"})["fault"]
    assert "the certificate of 127.0.0.1 is not trusted" in unknown
    assert (
        "has http instead of https"
        in disk.ask("x", "plan", source={**disk.source("x"), "releases": "http://127.0.0.1:9/x"})[
            "fault"
        ]
    )
    assert disk.used == "1.0"
    proxy = {"https_proxy": f"http://127.0.0.1:{web.proxy}"}
    assert disk.install("newer", variables=proxy) == "eca 2.0 is installed"
    while "PROXY" not in (line := web.asked()):
        assert line
    assert f"127.0.0.1:{web.port}" in line


def test_two_at_once_and_one_that_is_killed(disk: Disk) -> None:
    plan = disk.ask("held", "plan")["plan"]
    first = disk.start("held", "install", plan=plan)
    while not (there := [*disk.folder.glob("*/download-*")]) or not there[0].stat().st_size:
        time.sleep(0.01)
    second = disk.ask("held", "install", plan=disk.ask("held", "plan")["plan"])
    assert "another Neovim is installing or removing eca" in second["fault"]
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    for pipe in (first.stdin, first.stdout, first.stderr):
        assert pipe
        pipe.close()
    assert disk.used is None
    (kept,) = (disk.folder / ECA).glob("download-*")
    assert kept.stat().st_size > 0
    assert disk.install("held") == "eca 1.0 is installed"
    while "Range: bytes=" not in (line := disk.web.asked()) and "bytes=" not in line:
        assert line


def test_what_was_there_does_not_fit(disk: Disk) -> None:
    plan = disk.ask("broken", "plan")["plan"]
    home = disk.folder / ECA
    home.mkdir(parents=True)
    (home / f"download-{plan['sum'][:16]}").write_bytes(b"something else")
    assert disk.ask("broken", "install", plan=plan) == {"done": "eca 1.0 is installed"}


def test_the_end_of_neovim_ends_it(disk: Disk) -> None:
    process = disk.start("held", "install", plan=disk.ask("held", "plan")["plan"])
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdin.close()  # type: ignore[union-attr]
    assert process.wait() == -signal.SIGTERM
    process.stdout.close()
    process.stderr.close()
    assert disk.used is None


def test_a_full_disk(disk: Disk) -> None:
    plan = disk.ask("good", "plan")["plan"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        process = disk.start("good", "install", plan=plan)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    fault = finished(process)["fault"]
    assert fault == f"there is no more room in {disk.folder}: free some, then try again"
    assert list((disk.folder / ECA).glob("download-*")) == []
    assert disk.install("good") == "eca 1.0 is installed"


TARS: Mapping[str, tuple[tuple[str, bytes, bytes], ...]] = {
    "leads out": (("../x", tarfile.REGTYPE, b""),),
    "'x', a link": (("x", tarfile.SYMTYPE, b"/etc"), ("x/passwd", tarfile.REGTYPE, b"")),
    "'y', a link": (("y", tarfile.LNKTYPE, b"/etc/passwd"),),
    "'pipe', a link": (("pipe", tarfile.FIFOTYPE, b""),),
    "'x/y' twice": (("x", tarfile.REGTYPE, b""), ("x/y", tarfile.REGTYPE, b"")),
}


@pytest.mark.parametrize(("line", "members"), TARS.items(), ids=TARS)
def test_an_archive_of_another_kind(
    line: str, members: tuple[tuple[str, bytes, bytes], ...], tmp_path: Path
) -> None:
    archive, folder = tmp_path / "a", tmp_path / "to"
    folder.mkdir()
    archive.write_bytes(tarred(*members))
    with pytest.raises((NotFetched, FileExistsError), match=line if "twice" not in line else "x"):
        unpack(archive, "a.tar.gz", folder, "agent")
    assert sorted(it.name for it in tmp_path.iterdir()) == ["a", "to"]


def test_folders_count_and_damage_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, folder = tmp_path / "a", tmp_path / "to"
    folder.mkdir()
    monkeypatch.setattr(download, "MOST_FILES", 3)
    archive.write_bytes(tarred(*((f"d{it}", tarfile.DIRTYPE, b"") for it in range(5))))
    with pytest.raises(NotFetched, match="more than 3 files"):
        unpack(archive, "a.tar.gz", folder, "agent")
    assert len([*folder.iterdir()]) == 3
    whole = lzma.compress(gzip.decompress(tarred(("big", tarfile.REGTYPE, b""))) + bytes(1 << 20))
    archive.write_bytes(whole[:90] + b"damaged" + whole[97:])
    with pytest.raises(NotFetched, match="damaged"):
        unpack(archive, "a.tar.xz", folder, "agent")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(NotFetched, match="is not followed"):
        download.read("https://[x/registry.json")


def test_a_program_without_an_archive(tmp_path: Path) -> None:
    archive, folder = tmp_path / "a", tmp_path / "to"
    folder.mkdir()
    archive.write_bytes(b"#!/bin/sh\n")
    unpack(archive, "https://x/agent-linux", folder, "agent")
    assert os.access(folder / "agent", os.X_OK)
