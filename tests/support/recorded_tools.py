"""Does to files what the tools of a recorded ECA session have done; recordings have only words."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def act(message: Mapping[str, Any], scripts: Mapping[str, str]) -> None:
    """Do what a tool has done, before the server says that it has ended.

    scripts: what calls do of which that is not known, as commands do, by the names of their tools.
    """
    content = (message.get("params") or {}).get("content")
    match content:
        case {"type": "toolCalled", "name": str(name)} if name in scripts:
            subprocess.run(["sh", "-c", scripts[name]], check=True)
        case {"type": "toolCalled", "error": False, "name": name, "arguments": arguments}:
            _act(name, arguments)


def _act(name: str, arguments: Mapping[str, Any]) -> None:
    match name, arguments:
        case "edit_file", {"path": path, "original_content": old, "new_content": new}:
            Path(path).write_text(Path(path).read_text().replace(old, new, 1))
        case "write_file", {"path": path, "content": text}:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text)
        case "move_file", {"source": source, "destination": destination}:
            Path(source).rename(destination)
