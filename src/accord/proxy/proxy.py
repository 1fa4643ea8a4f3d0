"""The base class of proxies."""

from __future__ import annotations

from typing import ClassVar, Literal

from accord.proxy.handlers import Mark, Way, check_watch, collect
from accord.proxy.message import ProxyPeer

MessageKind = Literal["request", "notification", "result", "error"]


class Proxy:
    """A component between a client and an agent, which can see and change the messages between them.

    Mark methods with `@to_agent` and `@to_client` to handle messages. Everything else passes unchanged, byte for byte:
    unknown methods and fields, results and errors. An object serves one client.

        class Careful(Proxy):
            @to_agent(v1.methods.SESSION_PROMPT)
            async def prompt(self, request: Request[v1.PromptRequest, v1.PromptResponse]) -> v1.PromptResponse:
                request.params.prompt.append(v1.TextContent(text="Be careful."))
                return await request.forward()
    """

    client: ProxyPeer
    """The client, or the proxy before this one. Use it to send your own requests and notifications."""
    agent: ProxyPeer
    """The agent, or the proxy after this one."""
    version: int | None = None
    """The negotiated protocol version; None before `initialize`."""

    _marks: ClassVar[list[tuple[str, Mark]]] = []

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._marks = collect(cls)
        if "watch" in vars(cls):
            check_watch(f"{cls.__name__}.watch", vars(cls)["watch"])

    @classmethod
    def marks(cls) -> list[tuple[str, Mark]]:
        """Return the handlers of the class, by name."""
        return cls._marks

    def watch(self, way: Way, kind: MessageKind, method: str, body: bytes) -> None:
        """Override this to see every message in transit, as JSON: params, result or error.

        For a response, `method` is that of its request. Called before handlers; it can't change the message."""
