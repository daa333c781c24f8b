"""An agent of the Agent Client Protocol that follows a script.

`python acp_agent.py SCRIPT REPORT [official]`, on the official SDK with the last word. SCRIPT is a
JSON file:

    {"initialize": RESULT, "session": RESULT, "turns": [[STEP, …], …]}

RESULT completes the answers to `initialize` and `session/new`; each prompt plays the next turn. A
step is one of

    {"update": UPDATE}             send a session/update
    {"ask": PARAMS}                request permission, and wait for the answer
    {"withdraw": PARAMS}           the same, but take the request back once it was received
    {"request": [METHOD, PARAMS]}  send any request, and wait for the answer
    {"all": [[METHOD, PARAMS], …]} send requests at once, and wait for all answers
    {"begin": [METHOD, PARAMS]}    send any request, and go on; its answer is reported when it comes
    {"cancel": null}               take back the request that was begun last ($/cancel_request)
    {"join": null}                 wait for the answers to all that was begun
    {"wait": "session/cancel"}     wait for a notification of the client
    {"end": REASON}                end the turn; without it the reason is end_turn
    {"fail": [CODE, MESSAGE]}      answer the prompt with an error

In PARAMS, "TERMINAL" is the id of the terminal that was created last. Requests about terminals get
the session's id. Further sessions are "scripted-2" and so on.

`"login": {"refuses": [METHOD, …], "ways": {ID: null | [CODE, MESSAGE] | "slow"}, "key": PATH}` has
these methods refused until the client has authenticated by a way whose value is null, or the file
PATH exists. `python acp_agent.py SCRIPT REPORT login` is the program for that in a terminal: it
says what it sees of Neovim and reads a line, `yes` to make the file.

REPORT gets one JSON line for each message of the client: `{"method", "params"}`, and `{"answer",
"to"}` for the answers to our requests. `acp_models.faults` checks it.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from tests.support.acp_link import Connection, Refused, Value, not_found

SESSION = "scripted"


class Agent:
    """Plays the script on a connection."""

    def __init__(self, script: Value, report: Path) -> None:
        self._script = script
        self._turns: list[Sequence[Value]] = list(script.get("turns", ()))
        self._report = report
        self._notified: dict[str, asyncio.Event] = {}
        self._login = script.get("login", {})
        self._logged_in = False
        self._terminal = "none"
        self._begun: list[asyncio.Task[None]] = []
        self._sessions = 0
        self._requests = 0
        """How many requests were sent; they are numbered from 0."""
        self.connection: Connection

    def _note(self, entry: Mapping[str, Value]) -> None:
        with self._report.open("a") as report:
            report.write(json.dumps(entry) + "\n")

    async def handle(self, method: str, params: Value, is_notification: bool) -> Value:
        """Handle a message of the client (`acp_link.Handler`)."""
        self._note({"method": method, "params": params})
        if is_notification:
            self._notification(method).set()
            return None
        if method in self._login.get("refuses", ()) and not self._may_work():
            raise Refused(-32000, "Authentication required")
        match method:
            case "authenticate":
                return await self._authenticate(params["methodId"])
            case "logout":
                self._logged_in = False
                return {}
            case "initialize":
                return {"protocolVersion": 1} | self._script.get("initialize", {})
            case "session/new":
                self._sessions += 1
                name = SESSION if self._sessions == 1 else f"{SESSION}-{self._sessions}"
                return {"sessionId": name} | self._script.get("session", {})
            case "session/prompt":
                return await self._play()
            case "session/set_mode" | "session/close" | "session/delete":
                return {}
            case "session/set_config_option":
                return {"configOptions": self._script["session"]["configOptions"]}
        raise not_found(method)

    def _may_work(self) -> bool:
        key = self._login.get("key")
        return self._logged_in or (key is not None and Path(key).exists())

    async def _authenticate(self, way: str) -> Value:
        match self._login["ways"][way]:
            case [code, message]:
                raise Refused(code, message)
            case "slow":
                await asyncio.Event().wait()
        self._logged_in = True
        return {}

    def _notification(self, method: str) -> asyncio.Event:
        return self._notified.setdefault(method, asyncio.Event())

    async def _play(self) -> Value:
        reason = "end_turn"
        for step in self._turns.pop(0) if self._turns else ():
            [(what, value)] = step.items()
            match what:
                case "end":
                    reason = value
                case "fail":
                    raise Refused(*value)
                case _:
                    await self._step(what, value)
        return {"stopReason": reason}

    async def _step(self, what: str, value: Value) -> None:
        match what:
            case "update":
                update = {"sessionId": SESSION, "update": self._filled(value)}
                await self.connection.send_notification("session/update", update)
            case "ask":
                await self._request("session/request_permission", self._permission(value))
            case "withdraw":
                await self._withdraw(self._permission(value))
            case "request":
                await self._request(*value)
            case "all":
                await asyncio.gather(*(self._request(*each) for each in value))
            case "begin":
                self._begun.append(asyncio.create_task(self._request(*value)))
                await asyncio.sleep(0)  # it is sent
            case "cancel":
                number = {"requestId": self._requests - 1}
                await self.connection.send_notification("$/cancel_request", number)
            case "join":
                await asyncio.gather(*self._begun)
            case "wait":
                await self._notification(value).wait()

    def _permission(self, params: Value) -> Value:
        return {"sessionId": SESSION} | params

    async def _request(self, method: str, params: Value) -> None:
        self._requests += 1
        if method.startswith("terminal/"):
            params = {"sessionId": SESSION} | self._filled(params)
        try:
            answer = await self.connection.send_request(method, params)
        except Refused as refused:
            self._note({"answer": {"error": str(refused), "code": refused.code}, "to": method})
            return
        self._note({"answer": answer, "to": method})
        if method == "terminal/create":
            self._terminal = answer["terminalId"]

    def _filled(self, value: Value) -> Value:
        """Return a value with the id of the last terminal."""
        return json.loads(json.dumps(value).replace('"TERMINAL"', json.dumps(self._terminal)))

    async def _withdraw(self, params: Value) -> None:
        """Request permission, and cancel the request once the client has received it.

        The client answers the second request at once, and it reads them in their order.
        """
        number = self._requests
        asked = asyncio.create_task(self._request("session/request_permission", params))
        received = asyncio.create_task(self._request("is/the/first/received", {}))
        await received
        await self.connection.send_notification("$/cancel_request", {"requestId": number})
        await asked


async def main(script: Value, report: Path) -> None:
    """Serve on standard input and output until it ends."""
    agent = Agent(script, report)
    connect = Connection
    if "official" in sys.argv:
        connect = import_module("tests.support.acp_official").OfficialConnection
    agent.connection = connect(agent.handle)
    await agent.connection.serve()


def log_in(key: str) -> int:
    """Log in, as a program in a terminal does; returns its exit code."""
    neovim = {
        name: value for name, value in os.environ.items() if name.startswith("NVIM") and value
    }
    sys.stdout.write(f"Neovim: {neovim}, flavour: {os.environ.get('FLAVOUR')}, log in? ")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != "yes":
        return 3
    Path(key).touch()
    return 0


if __name__ == "__main__":
    if "login" in sys.argv:
        sys.exit(log_in(json.loads(Path(sys.argv[1]).read_text())["login"]["key"]))
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])))
