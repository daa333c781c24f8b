"""A server of releases and of agents over HTTPS, as a process of its own, with a proxy beside it.

    python https_server.py CERTIFICATE KEY

It prints its port and that of its proxy. The first part of a path says how it misbehaves; every
request is logged to standard output. Also what else tests use: certificates, and archives.
"""

import hashlib
import http.server
import io
import json
import platform
import select
import socket
import socketserver
import ssl
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import ClassVar

NAMES = [
    f"eca-native-{kind}{system}.zip"
    for kind in ("", "static-")
    for system in ("linux-amd64", "linux-aarch64", "macos-amd64", "macos-aarch64")
]
PROGRAM = """#!{python}
import json, sys
VERSION = {version!r}
header = sys.stdin.buffer.readline()
if {is_deaf}:
    sys.exit("fatal: this build is broken")
while sys.stdin.buffer.readline().strip():
    pass
request = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
body = json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": {{}}}}).encode()
sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
sys.stdout.buffer.flush()
sys.stdin.buffer.read()
"""
FILLER = b"\0" * 300_000  # stored as it is, so that a broken connection leaves a part


def program(version: str, *, is_deaf: bool = False) -> bytes:
    """Return the server of a release: it answers `initialize`."""
    return PROGRAM.format(python=sys.executable, version=version, is_deaf=is_deaf).encode()


def zipped(*members: tuple[str, bytes, int]) -> bytes:
    """Return an archive; a member has a name, its content, and its mode with the file's type."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return file.getvalue()


def tarred(*members: tuple[str, bytes, bytes]) -> bytes:
    """Return an archive; a member has a name, its type, and its content or where it leads."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o755
            if kind == tarfile.REGTYPE:
                info.size = len(content)
            else:
                info.linkname = content.decode()
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


ECA = ("eca", program("1.0"), 0o100755)
ARCHIVES: Mapping[str, bytes] = {
    "good": zipped(ECA, ("filler", FILLER, 0o100644)),
    "newer": zipped(("eca", program("2.0"), 0o100755)),
    "deaf": zipped(("eca", program("3.0", is_deaf=True), 0o100755)),
    "outside": zipped(ECA, ("../outside", b"x", 0o100644)),
    "absolute": zipped(ECA, ("/tmp/absolute", b"x", 0o100644)),
    "link": zipped(ECA, ("link", b"/etc/passwd", 0o120777)),
    "twice": zipped(ECA, ("Eca/x", b"", 0o100644), ("Eca//x", b"", 0o100644)),
    "empty": zipped(("readme", b"x", 0o100644)),
    "damaged": b"PK\3\4 this is not an archive",
}
AGENTS = [
    {
        "id": "new-agent",
        "name": "New",
        "version": "4.5.6",
        "description": "what it is \x1b[31mfor\n",
        "distribution": {"npx": {"package": "@new/agent@4.5.6", "env": {"NEW_MODE": "acp"}}},
    },
    {"id": "codex-acp", "version": "9.9.9", "distribution": {"npx": {"package": "codex-acp"}}},
]
VERSIONS = {"newer": "2.0", "deaf": "3.0"}


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for this machine, which is its own authority; returns it and its key."""
    made, key = folder / "certificate.pem", folder / "key.pem"
    about = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650")
    command = ("openssl", "req", "-x509", *kind, *about, "-keyout", str(key), "-out", str(made))
    subprocess.run(command, check=True, capture_output=True)
    return made, key


MACHINES = [f"{system}-{cpu}" for system in ("linux", "darwin") for cpu in ("x86_64", "aarch64")]
HERE = "-".join(
    (
        platform.system().lower(),
        {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine(), platform.machine()),
    )
)
BOXED = """#!{python}
import runpy, sys
from pathlib import Path
home = Path(__file__).resolve().parents[1]
sys.path.insert(0, {repository!r})
sys.argv[1:] = [str(home / "script.json"), str(home / "report.jsonl")]
runpy.run_module("tests.support.acp_agent", run_name="__main__")
"""
SAYS = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "out of a box"}}
SCRIPT = {
    "initialize": {"agentInfo": {"name": "boxed", "version": "1.5.0"}},
    "turns": [[{"update": SAYS}]],
}
KINDS = {"boxed": "tar.gz", "zipped": "zip"}
"""The agents that are archives, and of which kind."""


@cache
def boxed(name: str) -> bytes:
    """Return the archive of an agent: a script that answers a prompt, and what it needs."""
    repository = str(Path(__file__).parents[2])
    program_text = BOXED.format(python=sys.executable, repository=repository).encode()
    script = json.dumps(SCRIPT).encode()
    if KINDS[name] == "zip":
        return zipped(("bin/agent", program_text, 0o100755), ("script.json", script, 0o100644))
    return tarred(
        ("./", tarfile.DIRTYPE, b""),
        ("bin/agent", tarfile.REGTYPE, program_text),
        ("script.json", tarfile.REGTYPE, script),
    )


def binaries(row: str, name: str, port: int) -> Mapping[str, object]:
    """Return the archives of an agent as the registry lists them; those of others do not exist."""
    told = "0" * 64 if row == "wrong" else hashlib.sha256(boxed(name)).hexdigest()
    address = f"https://127.0.0.1:{port}/boxes/{name}"
    return {
        it: {"archive": f"{address}-{it}.{KINDS[name]}", "cmd": "./bin/agent", "sha256": told}
        for it in MACHINES
    }


def sum_of(row: str) -> str:
    return hashlib.sha256(ARCHIVES.get(row, ARCHIVES["good"])).hexdigest()


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers; `ROW/latest` is a listing, `ROW/NAME.zip` an archive."""

    protocol_version = "HTTP/1.1"
    failed: ClassVar = set[str]()
    """What has been asked for in the row `flaky`."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, ARG002 - its name there
        say(self.command, self.path, self.headers.get("Range", ""))

    def do_GET(self) -> None:
        _, row, name = self.path.split("/", 2)
        misbehave: Callable[[str], None] | None = getattr(self, f"_{row}", None)
        if row == "boxes":
            self._boxes_of(name)
        elif misbehave is not None and name != "latest":
            misbehave(name)
        elif name == "latest":
            self._send(json.dumps(self._listing(row)).encode())
        elif name == "registry.json":
            self._send(json.dumps({"agents": [*AGENTS, *self._boxes(row)]}).encode())
        else:
            self._send(ARCHIVES.get(row, ARCHIVES["good"]))

    def _listing(self, row: str) -> Mapping[str, object]:
        names = ["other.zip"] if row == "nobuild" else NAMES
        told = "0" * 64 if row == "wrong" else sum_of(row)
        digest = None if row in ("nosum", "beside") else f"sha256:{told}"
        assets = [
            {"name": it, "browser_download_url": f"/{row}/{it}", "digest": digest} for it in names
        ]
        if row in ("beside", "twosums"):
            assets += [
                {"name": f"{it}.sha256", "browser_download_url": it + ".sha256"} for it in names
            ]
        return {"tag_name": VERSIONS.get(row, "1.0"), "assets": assets}

    def _boxes(self, row: str) -> Sequence[object]:
        port = self.connection.getsockname()[1]
        return [
            {"id": it, "version": "1.5.0", "distribution": {"binary": binaries(row, it, port)}}
            for it in KINDS
        ]

    def _send(self, body: bytes, *, status: int = 200, headers: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def _boxes_of(self, name: str) -> None:
        agent, _, rest = name.partition("-")
        there = rest == f"{HERE}.{KINDS.get(agent)}"
        self._send(boxed(agent) if there else b"", status=200 if there else 404)

    # --- how it misbehaves ------------------------------------------------------------------------

    def _beside(self, name: str) -> None:
        is_sum = name.endswith(".sha256")
        self._send(sum_of("good").encode() + b"\n" if is_sum else ARCHIVES["good"])

    def _twosums(self, _: str) -> None:
        self._send(b"1" * 64)

    def _missing(self, _: str) -> None:
        self._send(b"", status=404)

    def _failing(self, _: str) -> None:
        self._send(b"", status=503)

    def _circle(self, _: str) -> None:
        self._send(b"", status=302, headers={"Location": self.path})

    def _plain(self, _: str) -> None:
        self._send(b"", status=302, headers={"Location": "http://127.0.0.1:1/x.zip"})

    def _local(self, _: str) -> None:
        self._send(b"", status=302, headers={"Location": "file:///etc/passwd"})

    def _moved(self, name: str) -> None:
        self._send(b"", status=302, headers={"Location": f"/good/{name}"})

    def _broken(self, _: str) -> None:
        """Break off in the middle; a request for the rest is answered."""
        body = ARCHIVES["good"]
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        if begin:
            rest = {"Content-Range": f"bytes {begin}-{len(body) - 1}/{len(body)}"}
            self._send(body[begin:], status=206, headers=rest)
            return
        self._half(body)

    def _always(self, _: str) -> None:
        """Break off each time, and know no ranges."""
        self._half(ARCHIVES["good"])

    def _half(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        self.connection.close()

    def _silent(self, _: str) -> None:
        """Say nothing until the client gives up."""
        with suppress(OSError):
            self.connection.recv(1)
        self.close_connection = True

    def _flaky(self, name: str) -> None:
        """Fail for the first time."""
        is_first = name not in self.failed
        self.failed.add(name)
        self._send(b"" if is_first else ARCHIVES["good"], status=503 if is_first else 200)

    def _endless(self, _: str) -> None:
        """Send more than is wanted, and do not say how much."""
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            while True:
                self.wfile.write(FILLER)

    def _held(self, _: str) -> None:
        """Send a part, and no more until the client is gone; send the rest to who asks for it."""
        if "Range" in self.headers:
            self._broken("")
            return
        body = ARCHIVES["good"]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: 3 * len(body) // 4])
        self.wfile.flush()
        self._silent("")

    def _slow(self, _: str) -> None:
        body = ARCHIVES["good"]
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(body) - begin))
        self.end_headers()
        for at in range(begin, len(body), 20_000):
            self.wfile.write(body[at : at + 20_000])
            time.sleep(0.2)


class Proxy(http.server.BaseHTTPRequestHandler):
    """Connects to the host that is asked for."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, ARG002 - its name there
        say("PROXY", self.path)

    def do_CONNECT(self) -> None:
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as other:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: other, other: self.connection}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        return
                    ends[end].sendall(data)


class Server(socketserver.ThreadingTCPServer):
    """A server that looks no name up, as that of `http.server` does."""

    daemon_threads = True


def serve(made: str, key: str) -> None:
    """Serve until standard input ends."""
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(made, key)
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = secure.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    proxy = Server(("127.0.0.1", 0), Proxy)
    for each in (server, proxy):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    say(server.server_address[1], proxy.server_address[1])
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
