"""Download: gets files over HTTPS, checks their sums, and unpacks them into a folder of ours.

Rules kept here:
- Only HTTPS, also where a server redirects to. Certificates are those of the system, or of
  SSL_CERT_FILE; proxies are those of the environment.
- What has arrived before a connection breaks is kept, and the rest asked for.
- An archive gets no file outside of its folder, no link, and no more than there is room for.
"""

import hashlib
import http.client
import lzma
import shutil
import ssl
import stat
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from email.message import Message
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple
from urllib.parse import urlsplit

PATIENCE: Final = 30.0
"""Seconds without a byte after which a connection counts as broken."""
PAUSES: Final = (0.5, 2.0, 5.0)
"""Seconds before each further attempt."""
MOST_LISTED: Final = 1 << 24
"""Bytes of a listing."""
MOST_BYTES: Final = 1 << 30
"""Bytes of an archive, and of each half of what it holds."""
MOST_FILES: Final = 100_000
PIECE: Final = 1 << 16

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are there, and how many there will be, if that is known."""


class NotFetched(Exception):
    """Raised when something cannot be got or used; the text is one line with a remedy."""


class _Broken(Exception):
    """Raised when a connection breaks: a further attempt may succeed."""


class _NothingLeft(Exception):
    """Raised when a server has no bytes after those that are there."""


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    max_redirections = 8
    max_repeats = 2

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage | Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _require_https(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError as fault:  # such as brackets that do not close
        raise NotFetched(f"an address is not followed: {fault}") from None
    if parts.scheme != "https" or not parts.hostname:
        kind = parts.scheme or "no scheme"
        raise NotFetched(f"{_short(url)} has {kind} instead of https: it is not followed")


def _short(url: str) -> str:
    """Return an address without what may be a key in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _open(url: str, begin: int = 0) -> http.client.HTTPResponse:
    """Ask for a file from a byte on. Raises NotFetched, _Broken and _NothingLeft."""
    _require_https(url)
    headers = {"User-Agent": "eca-nvim", "Accept-Encoding": "identity"}
    if begin:
        headers["Range"] = f"bytes={begin}-"
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - it is https
    secure = urllib.request.HTTPSHandler(context=ssl.create_default_context())
    opener = urllib.request.build_opener(_OnlyHttps, secure)
    host = urlsplit(url).hostname
    try:
        response: http.client.HTTPResponse = opener.open(request, timeout=PATIENCE)
    except urllib.error.HTTPError as fault:
        fault.close()
        raise _refused(url, fault) from None
    except urllib.error.URLError as fault:
        raise _unreachable(host, fault.reason) from None
    except (OSError, http.client.HTTPException) as fault:
        raise _Broken(f"the connection to {host} broke ({type(fault).__name__})") from None
    return response


def _refused(url: str, fault: urllib.error.HTTPError) -> Exception:
    if str(fault.msg).startswith(urllib.request.HTTPRedirectHandler.inf_msg):
        return NotFetched(f"{_short(url)} redirects in a circle: try again later")
    if 300 <= fault.code < 400:
        return NotFetched(f"{_short(url)} redirects to something else than https: not followed")
    if fault.code == http.client.NOT_FOUND:
        return NotFetched(f"{_short(url)} does not exist (404): is the base URL in your options?")
    if fault.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
        return _NothingLeft()
    line = f"{_short(url)} answers {fault.code} {fault.reason}: try again later"
    return _Broken(line) if fault.code >= http.client.INTERNAL_SERVER_ERROR else NotFetched(line)


def _unreachable(host: str | None, reason: object) -> Exception:
    if isinstance(reason, ssl.SSLCertVerificationError):
        why = reason.verify_message
        return NotFetched(f"the certificate of {host} is not trusted ({why}): see SSL_CERT_FILE")
    if isinstance(reason, TimeoutError):
        return _Broken(f"{host} does not answer")
    if isinstance(reason, ConnectionResetError | ssl.SSLEOFError):
        return _Broken(f"the connection to {host} broke")
    words = getattr(reason, "strerror", None) or reason
    return NotFetched(f"{host} cannot be reached ({words}): check the network or its proxy")


def _attempts(work: Callable[[], bool]) -> None:
    """Work until it is done; what breaks is tried again. Raises NotFetched."""
    for pause in chain(PAUSES, (None,)):
        try:
            if work():
                return
        except _Broken as broken:
            if pause is None:
                raise NotFetched(f"{broken} ({len(PAUSES) + 1} attempts)") from None
            time.sleep(pause)


def read(url: str) -> bytes:
    """Return a listing. Raises NotFetched."""
    found: list[bytes] = []

    def attempt() -> bool:
        with _open(url) as response:
            try:
                found.append(response.read(MOST_LISTED + 1))
            except (OSError, http.client.HTTPException) as fault:
                raise _Broken(f"{_short(url)} broke off ({type(fault).__name__})") from None
        return True

    _attempts(attempt)
    if len(found[-1]) > MOST_LISTED:
        raise NotFetched(f"{_short(url)} is too long: is the base URL in your options right?")
    return found[-1]


def save(url: str, target: Path, progress: Progress) -> None:
    """Save a file; what of it is there already is not got again. Raises NotFetched, OSError."""
    _attempts(lambda: _save_rest(url, target, progress))


def _save_rest(url: str, target: Path, progress: Progress) -> bool:
    there = target.stat().st_size if target.exists() else 0
    try:
        response = _open(url, there)
    except _NothingLeft:
        return True  # it is complete, or that of another file: its sum decides
    with response:
        if there and response.status != http.client.PARTIAL_CONTENT:
            there = 0
        length = response.getheader("Content-Length")
        total = there + int(length) if length and length.isdecimal() else None
        if total is not None and total > MOST_BYTES:
            raise NotFetched(f"{_short(url)} is larger than {MOST_BYTES >> 20} MB: it is not kept")
        with target.open("r+b" if there else "wb") as file:
            file.seek(there)
            there = _copy(response, file, there, total, progress)
    if total is not None and there < total:
        raise _Broken(f"{_short(url)} broke off after {there >> 10} of {total >> 10} KB")
    return True


def _copy(
    response: http.client.HTTPResponse,
    file: IO[bytes],
    there: int,
    total: int | None,
    progress: Progress,
) -> int:
    while True:
        progress(there, total)
        try:
            piece = response.read(PIECE)
        except (OSError, http.client.HTTPException):
            return there if total is not None else _stop(there)
        if not piece:
            return there
        file.write(piece)
        file.flush()  # it stays if this process is killed
        there += len(piece)
        if there > MOST_BYTES:
            raise NotFetched(f"it is larger than {MOST_BYTES >> 20} MB: it is not kept")


def _stop(there: int) -> int:
    raise _Broken(f"the connection broke after {there >> 10} KB")


def sha256(path: Path) -> str:
    """Return the sum of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- archives -------------------------------------------------------------------------------------


class _Member(NamedTuple):
    name: str
    is_folder: bool
    is_file: bool
    is_executable: bool
    open: Callable[[], IO[bytes] | None]


_DAMAGED: Final = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError)


def unpack(archive: Path, kind: str, folder: Path, program: str) -> None:
    """Unpack an archive into a folder that is there and empty.

    kind: how its name ended; anything but an archive is the program itself. Raises NotFetched,
    OSError.
    """
    try:
        if kind.endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                _write_all(_zip_members(zipped), folder)
        elif kind.endswith((".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".tar")):
            with tarfile.open(archive) as packed:
                _write_all(_tar_members(packed), folder)
        else:
            target = folder / _place(program)
            shutil.copyfile(archive, target)
            target.chmod(0o755)
    except (*_DAMAGED, EOFError, RuntimeError) as fault:
        raise NotFetched(f"the archive is damaged ({fault}): it is not used") from None


def _zip_members(zipped: zipfile.ZipFile) -> Iterator[_Member]:
    for it in zipped.infolist():
        mode = it.external_attr >> 16
        is_file = not it.is_dir() and stat.S_IFMT(mode) in (0, stat.S_IFREG)
        yield _Member(
            *(it.filename, it.is_dir(), is_file, bool(mode & 0o111)),
            lambda it=it: zipped.open(it),  # type: ignore[misc]
        )


def _tar_members(packed: tarfile.TarFile) -> Iterator[_Member]:
    for it in packed:
        yield _Member(
            *(it.name, it.isdir(), it.isreg(), bool(it.mode & 0o111)),
            lambda it=it: packed.extractfile(it),  # type: ignore[misc]
        )


def _place(name: str) -> PurePosixPath:
    """Return where a file of an archive goes. Raises NotFetched if that is not in its folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or not _is_plain(name):
        raise NotFetched(f"the archive has {name!r}, which leads out of its folder: not unpacked")
    return path


def _is_plain(name: str) -> bool:
    return name.isprintable() and "\\" not in name


def _write_all(members: Iterable[_Member], folder: Path) -> None:
    """Write files. What they hold is counted as it is written: a header may lie."""
    left = 2 * MOST_BYTES
    for count, it in enumerate(members):
        if it.is_folder and not PurePosixPath(it.name).parts:
            continue  # `./`
        place = folder / _place(it.name)
        is_too_much = count >= MOST_FILES
        if is_too_much or not (it.is_file or it.is_folder):
            what = f"more than {MOST_FILES} files" if is_too_much else f"{it.name!r}, a link"
            raise NotFetched(f"the archive has {what}: it is not unpacked")
        if it.is_folder:
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        content = it.open()
        assert content is not None
        try:
            file = place.open("xb")
        except (FileExistsError, NotADirectoryError):
            raise NotFetched(f"the archive has {it.name!r} twice: it is not unpacked") from None
        with content, file:
            while piece := content.read(PIECE):
                left -= len(piece)
                if left < 0:
                    raise NotFetched("the archive holds more than 2 GB: it is not unpacked")
                file.write(piece)
        place.chmod(0o755 if it.is_executable else 0o644)
