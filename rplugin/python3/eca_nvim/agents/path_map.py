"""Path map: names files for an agent that runs elsewhere, where folders have other paths.

Rules kept here:
- What has the name of a path in a message is one (`names_paths`), in the protocol and in the
  arguments of tools. Texts and command lines stay as they are, but for what refers to a context in
  a prompt: `@/path`, and our sentence about the cursor.
- The longest folder counts. A path in none of them never names a file of the other side: to the
  user it is shown with the option's name, and as it does not begin with `/`, nothing opens it.
"""

import json
import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from eca_nvim.jsonrpc.framing import Framed, Framing
from eca_nvim.paths import NotAFile, path_of, uri_of
from eca_nvim.protocol.base.codec import MOST_DIGITS

_WORDS: Final = (
    *("path", "paths", "uri", "uris", "file", "files", "filename", "cwd", "root", "roots"),
    *("dir", "directory", "directories", "folder", "folders"),
)
_ENDS: Final = frozenset(_WORDS)
_FILE: Final = "file:"
_PROMPTS: Final = frozenset(
    ("session/prompt", "_session/steering", "chat/prompt", "chat/promptSteer")
)
_SENTENCES: Final = ("The cursor is in line ", "Selected in /")
"""How the texts begin that say where the cursor is (`acp/prompt`)."""
_MENTION: Final = "@/"
_QUERIES: Final = frozenset(("chat/queryFiles", "chat/queryContext"))
_MOVE: Final = ("source", "destination")
"""The arguments of tools that move a file; either alone may be anything."""
_TOO_DEEP: Final = b'"nested too deeply"'


def names_paths(key: str) -> bool:
    """Return whether what has this name in a message is a path or a URI: by its last word.

    `path`, `filePath`, `file_path`, `workspaceUri`, `additionalDirectories`.
    """
    last = len(key.rstrip("abcdefghijklmnopqrstuvwxyz"))
    word = key[max(0, last - 1) :] if last and key[last - 1].isupper() else key[last:]
    return word.lower() in _ENDS


class PathMap:
    """The folders of an agent, by ours: the option `servers.NAME.paths`."""

    def __init__(self, server: str, folders: Mapping[str, str]) -> None:
        self.option = f"servers.{server}.paths"
        self._server = server
        self._told = folders
        pairs = [
            (_plain(str(Path(ours).expanduser())), _plain(theirs))
            for ours, theirs in folders.items()
        ]
        self._there = sorted(pairs, key=lambda it: -len(it[0]))
        self._here = sorted(((it, ours) for ours, it in pairs), key=lambda it: -len(it[0]))

    @property
    def fault(self) -> str | None:
        """Why these folders cannot be used, in one line. One that is empty would be the root."""
        for path in (it for pair in self._told.items() for it in pair):
            is_ours = path in self._told
            if not path.startswith("/") and not (is_ours and path.split("/")[0] == "~"):
                return f"{self.option} has {path!r}: write the whole path, then :Eca restart"
        theirs = [it for it, _ in self._here]
        if twice := next((it for it in theirs if theirs.count(it) > 1), None):
            return f"{self.option} has {twice!r} for two folders: leave one, then :Eca restart"
        return None

    def covers(self, path: str) -> bool:
        """Return whether the agent has a path for one of ours."""
        return _moved(path, self._there) is not None

    def refusal(self, path: str) -> str:
        """Return why a path of ours is not sent, in one line."""
        return f"{self.option} has no folder of {path}: add one, then :Eca restart"

    def to_agent(self, message: object) -> object:
        """Return a message for the agent."""
        if isinstance(message, dict) and _is_form(message.get("result")):
            return message  # what the user has typed
        method = message.get("method") if isinstance(message, dict) else None
        if isinstance(message, dict) and method in _PROMPTS | _QUERIES:
            change = self._with_mentions if method in _PROMPTS else self._asked
            message = {**message, "params": change(message.get("params"))}
        return _walk(message, lambda path: self._mapped(path, self._there, "Neovim"))

    def from_agent(self, message: object) -> object:
        """Return a message of the agent for us."""
        return _walk(message, lambda path: self._mapped(path, self._here, self._server))

    def _asked(self, params: object) -> object:
        """Return a search for files that the user types: the beginning of a path, or of a name."""
        typed = params.get("query") if isinstance(params, dict) else None
        if not isinstance(params, dict) or not isinstance(typed, str) or typed[:1] != "/":
            return params
        return {**params, "query": self._after("", typed)}

    def _with_mentions(self, params: object) -> object:
        """Return a prompt whose texts name contexts as the agent finds them."""
        if not isinstance(params, dict):
            return params
        blocks, message = params.get("prompt"), params.get("message")
        if isinstance(blocks, list):
            params = {**params, "prompt": [self._with_mention(it) for it in blocks]}
        if isinstance(message, str):
            params = {**params, "message": self._in_words(message)}
        return params

    def _with_mention(self, block: object) -> object:
        if isinstance(block, dict) and block.get("type") == "text":
            return {**block, "text": self._in_words(str(block.get("text")))}
        return block

    def _in_words(self, text: str) -> str:
        """Replace our folders where a text refers to a file."""
        mark = "/" if text.startswith(_SENTENCES) else _MENTION
        begin, *pieces = text.split(mark, 1 if mark == "/" else -1)
        return begin + "".join(self._after(mark[:-1], f"/{it}") for it in pieces)

    def _after(self, sign: str, text: str) -> str:
        """Return a text that begins with a path, after its sign."""
        for ours, theirs in self._there:
            rest = text.removeprefix(ours)
            if rest != text and not rest[:1].isalnum() and rest[:1] not in ("_", "-", "."):
                return f"{sign}{theirs.rstrip('/')}{rest}"
        return f"{sign}{text}"

    def _mapped(self, path: str, pairs: list[tuple[str, str]], side: str) -> str:
        found = _moved(path, pairs)
        return found or f"{side}:{path} (not in {self.option})"


def _plain(path: str) -> str:
    """Return a path without a slash at its end, `..` and doubled slashes."""
    return "/" + posixpath.normpath(f"/{path}").lstrip("/")


def _moved(path: str, pairs: list[tuple[str, str]]) -> str | None:
    """Return the path in the other one of the first pair of folders that has it."""
    plain = _plain(path)
    for source, target in pairs:
        if plain == source:
            return target
        if plain.startswith(f"{source.rstrip('/')}/"):
            return posixpath.join(target, plain[len(source) :].lstrip("/"))
    return None


def _walk(value: object, moved: Callable[[str], str], *, is_path: bool = False) -> object:
    if isinstance(value, dict):
        moves = all(isinstance(value.get(key), str) for key in _MOVE)
        named = {key for key in value if names_paths(key) or (moves and key in _MOVE)}
        return {
            key: _walk(item, moved, is_path=isinstance(item, str | list) and key in named)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_walk(item, moved, is_path=is_path) for item in value]
    return _renamed(value, moved) if is_path and isinstance(value, str) else value


def _renamed(text: str, moved: Callable[[str], str]) -> str:
    if text.startswith("/"):
        return moved(text)
    if not text[: len(_FILE)].lower().startswith(_FILE):
        return text  # relative, or of another kind
    try:
        found = moved(path_of(text))
    except NotAFile:
        return text
    return uri_of(found) if found.startswith("/") else found


def _is_form(result: object) -> bool:
    """Return whether a result is the answer to a form (elicitation/create)."""
    return isinstance(result, dict) and "action" in result and "content" in result


class MappedFraming:
    """Maps each message as it is framed, and as it is read."""

    def __init__(self, framing: Framing, paths: PathMap) -> None:
        self._framing = framing
        self._paths = paths

    def feed(self, data: bytes) -> list[Framed]:
        """Add the next bytes of the stream; return the messages and faults they complete."""
        return [
            self._mapped(it, self._paths.from_agent) if isinstance(it, bytes) else it
            for it in self._framing.feed(data)
        ]

    def encode(self, body: bytes) -> bytes:
        """Return the bytes of one message."""
        return self._framing.encode(self._mapped(body, self._paths.to_agent))

    def _mapped(self, body: bytes, mapping: Callable[[object], object]) -> bytes:
        try:
            return json.dumps(mapping(_read(body)), separators=(",", ":")).encode()
        except ValueError:
            return body  # it is no message for anybody
        except RecursionError:
            return _TOO_DEEP  # others may read what we cannot map


def _read(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # As the codec reads what is cut anywhere: else its paths would pass here unseen.
        return json.loads(body.decode(errors="replace"), strict=False, parse_int=_number)


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= MOST_DIGITS else digits
