"""A proxy on standard input and output: `proxy_component.py MANNER [SUCCESSOR…]`.

Without a successor it is run by a conductor. The manner is what it does with the prompts of both versions:
`pass` nothing, `WORD` puts `WORD ` before the first text, `die` exits with status 7."""

from __future__ import annotations

import os
import sys
from typing import Any

from accord.proxy import Proxy, run, to_agent


class Prefix(Proxy):
    def __init__(self, word: str) -> None:
        self.word = word

    @to_agent("session/prompt")
    async def prompt(self, request: Any) -> Any:
        if self.word == "die":
            print("last words of the proxy", file=sys.stderr, flush=True)
            os._exit(7)
        request.params.prompt[0].text = f"{self.word} {request.params.prompt[0].text}"
        return await request.forward()


if __name__ == "__main__":
    manner, *successor = sys.argv[1:]
    run(Proxy() if manner == "pass" else Prefix(manner), successor or None)
