"""Forks hosts: it has imported what each of them would import, which is most of a host's start.

`forking_python` starts it, and returns a program to be set as the option `python`. The host is the
real one, from `launch.run` on, with the streams, the environment and the working folder that
Neovim gives it, in a session of its own. Its parent is another: `fork_client.py` stands for it
among Neovim's children. Its guardian is forked from it; at its end it tears nothing down that the
system does, too: both cost as much as all else that it does. Tests of starts, of ends and of
process trees are marked `whole_start`.
"""

import gc
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import NamedTuple, NoReturn

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
LAUNCH = PACKAGE / "nvim" / "launch.py"
OTHERS = ("pynvim", "anyio._backends._asyncio")
"""What hosts import besides all modules of the package."""
READS_ON_S = 0.1
"""Seconds in which servers answer that they end, as while Python's own shutdown takes its time."""


@contextmanager
def forking_python() -> Iterator[str]:
    """Run a server; yields the path of a program that does as this Python, and forks hosts."""
    with tempfile.TemporaryDirectory(prefix="eca-forks-") as name:
        folder = Path(name)
        path, program = folder / "socket", folder / "python"
        client = Path(__file__).with_name("fork_client.py")
        words = [sys.executable, "-I", "-S", client, path, LAUNCH]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
        program.chmod(0o700)
        command = [sys.executable, "-I", __file__, str(path), str(PACKAGE.parent)]
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert server.stdin is not None
        assert server.stdout is not None
        with server:
            assert server.stdout.read(1), "the server has not started"
            yield str(program)
            server.stdin.close()


class Request(NamedTuple):
    """A host to be forked: its three streams, its working folder, arguments and environment."""

    streams: list[int]
    folder: bytes
    arguments: list[str]
    variables: list[bytes]


def read_request(connection: socket.socket) -> Request:
    """Read what `fork_client.request` has made."""
    head, streams, *_ = socket.recv_fds(connection, 4, 3)
    left, parts = int.from_bytes(head, sys.byteorder), list[bytes]()
    while left and (part := connection.recv(left)):
        parts.append(part)
        left -= len(part)
    folder, count, *words = b"".join(parts).split(b"\0")
    arguments, variables = words[: int(count)], words[int(count) :]
    return Request(streams, folder, [*map(os.fsdecode, arguments)], variables)


class ForkServer:
    """Takes requests until its standard input closes."""

    def __init__(self, path: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        self._clients: dict[int, tuple[socket.socket, int]] = {}
        """By the descriptor of the host's process: who stands for it, and its id."""
        self._poll = select.poll()
        for watched in (sys.stdin.fileno(), self._listener.fileno()):
            self._poll.register(watched, select.POLLIN)

    def serve(self) -> Request | None:
        """Return what a fork is to run, in the fork; None in the server, when nobody needs it."""
        while True:
            for ready, _ in self._poll.poll():
                if ready == sys.stdin.fileno():
                    return None
                if ready == self._listener.fileno():
                    if request := self._fork():
                        return request
                elif ready in self._clients:
                    self._ended(ready)
                else:
                    self._told(ready)

    def _fork(self) -> Request | None:
        connection = self._listener.accept()[0]
        request = read_request(connection)
        pid = os.fork()
        if not pid:
            for opened in (self._listener, connection, *(it for it, _ in self._clients.values())):
                opened.detach()  # all descriptors are closed below
            return request
        for stream in request.streams:
            os.close(stream)
        host = os.pidfd_open(pid)
        self._clients[host] = (connection, pid)
        for watched in (host, connection.fileno()):
            self._poll.register(watched, select.POLLIN)
        return None

    def _ended(self, host: int) -> None:
        """Send the status of a host that has ended."""
        connection, pid = self._clients.pop(host)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(KeyError):  # the client has gone
            self._poll.unregister(connection)
        self._poll.unregister(host)
        os.close(host)
        with suppress(BrokenPipeError):
            connection.sendall(status.to_bytes(4, sys.byteorder, signed=True))
        connection.close()

    def _told(self, ready: int) -> None:
        """Pass on the signals of a client; a client that is gone was killed."""
        for connection, pid in self._clients.values():
            if connection.fileno() == ready:
                numbers = connection.recv(64)
                if not numbers:
                    self._poll.unregister(connection)
                for number in numbers or [signal.SIGKILL]:
                    os.kill(pid, number)


def become(request: Request) -> None:
    """Make this fork the process that Neovim has asked for."""
    os.setsid()
    for number, stream in enumerate(request.streams):
        os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(request.folder)
    os.environ.clear()
    for name, _, value in (it.partition(b"=") for it in request.variables):
        os.environb[name] = value


def run_host(arguments: list[str]) -> NoReturn:
    """Run a host, whose memory the system frees as a whole."""
    try:
        import_module("eca_nvim.nvim.launch").run(arguments)
    except SystemExit as end:
        time.sleep(READS_ON_S)
        os._exit(int(end.code or 0))
    os._exit(0)


class ForkedGuardian:
    """The process of a guardian, with what the host uses of a `subprocess.Popen`."""

    def __init__(self, _command: list[str], *, pass_fds: list[int], **_options: object) -> None:
        host = os.getpid()
        self._pid = os.fork()
        if not self._pid:
            guard(pass_fds[0], host)

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self._pid, number)


def guard(pipe: int, host: int) -> NoReturn:
    """Be a guardian, as `guardian.py` is as a script, with the pipe and Neovim's only."""
    try:
        os.setsid()
        os.dup2(pipe, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        null = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(null, stream)
        for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(ignored, signal.SIG_IGN)
        os._exit(import_module("eca_nvim.guardian").guard(3, host))
    finally:
        os._exit(os.EX_SOFTWARE)


def main() -> None:
    """Run as a script: `fork_server.py SOCKET FOLDER`, in which the package is."""
    path, folder = sys.argv[1:]
    sys.path.insert(0, folder)
    package = import_module(PACKAGE.name)
    ours = (it.name for it in walk_packages(package.__path__, f"{PACKAGE.name}."))
    for name in (*OTHERS, *ours):
        import_module(name)
    starter = SimpleNamespace(Popen=ForkedGuardian, DEVNULL=subprocess.DEVNULL)
    vars(import_module("eca_nvim.nvim.guardian_process"))["subprocess"] = starter
    server = ForkServer(path)
    gc.freeze()
    os.write(1, b".")
    request = server.serve()
    if request is not None:
        become(request)
        run_host(request.arguments)


if __name__ == "__main__":
    main()
