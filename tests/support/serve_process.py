"""A running `accord serve`: its banner, its address, and its token for local clients."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import urllib.error
import urllib.request

from support.cli_runner import Accord, Done

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


class ServeProcess:
    """A server process on a free port."""

    def __init__(self, accord: Accord, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.accord = accord
        self.process = process
        self.banner = ""
        for line in process.stdout:
            self.banner += line
            if "Ctrl-C" in line:
                break
        assert "Ctrl-C" in self.banner, process.communicate()[1]
        self.url = re.findall(r"URL +(\S+)", self.banner)[0]

    @classmethod
    def start(cls, accord: Accord, *words: str) -> ServeProcess:
        return cls(accord, accord.start("serve", "--port", "0", *words))

    @property
    def token(self) -> str:
        file = self.accord.data / "serve" / "local.json"
        return str(json.loads(file.read_text())["servers"][0]["token"])

    def url_for(self, scheme: str) -> str:
        """Return the URL with the scheme `http` or `ws`."""
        return f"{scheme}://{self.url.partition('://')[2]}"

    def get(self, path: str, token: str | None = None) -> int:
        return self._status(urllib.request.Request(self.url.rpartition("/")[0] + path), token)

    def initialize(self, token: str | None = None) -> int:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url, json.dumps(INITIALIZE).encode(), headers)
        return self._status(request, token)

    def _status(self, request: urllib.request.Request, token: str | None) -> int:
        if token is not None:
            request.add_header("authorization", f"Bearer {token}")
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def end(self, number: int = signal.SIGTERM) -> Done:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=300)
        return Done(self.process.returncode, out, err)

    def kill(self) -> None:
        """End it if a test hasn't."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
