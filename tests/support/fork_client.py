"""Stands for a Python that Neovim starts: a host is forked by `fork_server.py`, in its place.

`fork_client.py SOCKET LAUNCH ARGUMENTS`: the arguments of a host begin with `-I LAUNCH`; any others
are for the real Python. This process has the host's environment and ends with its status; signals
go on to the host, which does not outlive this process. It imports next to nothing: `signal` and
`socket` would cost more than the rest.
"""

import _signal  # type: ignore[import-not-found]  # typeshed lacks it
import _socket
import os
import sys

FORWARDED = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM, _signal.SIGUSR1)


def request(arguments: list[str]) -> bytes:
    """Return the bytes for the server: the working folder, the arguments, and the environment."""
    variables = (name + b"=" + value for name, value in os.environb.items())
    folder = os.getcwdb()  # noqa: PTH109 - `pathlib` is one of the imports
    count = b"%d" % len(arguments)
    return b"\0".join((folder, count, *map(os.fsencode, arguments), *variables))


def stand_for_host(path: str, arguments: list[str]) -> int:
    """Have a host forked; return its exit status, negative for a signal."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(path)
    for number in FORWARDED:
        _signal.signal(number, lambda number, _: connection.send(bytes([number])) and None)
    text = request(arguments)
    streams = b"".join(it.to_bytes(4, sys.byteorder) for it in (0, 1, 2))
    size = len(text).to_bytes(4, sys.byteorder)
    connection.sendmsg([size], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    connection.sendall(text)
    for number in (0, 1, 2):
        os.close(number)  # they close when the host closes them
    return int.from_bytes(connection.recv(4), sys.byteorder, signed=True)


def main() -> None:
    """Run as a script."""
    path, launch, *arguments = sys.argv[1:]
    if arguments[:2] != ["-I", launch]:
        os.execv(sys.executable, [sys.executable, *arguments])
    status = stand_for_host(path, arguments[2:])
    if status < 0:
        _signal.signal(-status, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main()
