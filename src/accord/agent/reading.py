"""What a client sends an agent, made neutral where both versions differ in nothing but the class."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from accord.agent.opening import Place
from accord.errors import InvalidParams
from accord.model.content import UnknownContent
from accord.model.requests import McpServer, Reply, SystemPrompt
from accord.schema.shape import Other


def place(params: Any) -> Place:
    """Where a session is to work and with what, from the request that makes or opens it."""
    servers = [mcp_server(server) for server in params.mcp_servers]
    wanted = params.system_prompt
    prompt = None if wanted is UNSET or wanted is None else system_prompt(wanted)
    return Place(params.cwd, params.additional_directories, servers, params.meta or None, prompt)


def system_prompt(wanted: Any) -> SystemPrompt:
    """What the client says to the model itself. It is text, and there is some."""
    texts = [getattr(block, "text", None) for block in wanted.content]
    for index, text in enumerate(texts):
        if text is None:
            path = f"systemPrompt.content[{index}].type"
            raise InvalidParams(f"{path} must be 'text'", data={"path": path})
    if not texts:
        raise InvalidParams("systemPrompt.content is empty", data={"path": "systemPrompt.content"})
    return SystemPrompt(text="".join(map(str, texts)), mode=wanted.mode)


def reply(response: Any) -> Reply:
    """The answer to an elicitation. An action nobody knows is kept by name, and is no acceptance."""
    if isinstance(response, Other):
        return Reply(action=response.tag)
    return Reply(action=str(response.__struct_config__.tag), content=getattr(response, "content", None) or None)


def mcp_server(server: Any) -> McpServer:
    """An MCP server of a session. Version 1 gives the stdio ones no tag."""
    if isinstance(server, Other):
        return McpServer(name=str(server.data.get("name", "")), transport=server.tag, other=server.data)
    transport = server.__struct_config__.tag or "stdio"
    found = McpServer(name=server.name, transport=str(transport), meta=server.meta or None)
    match transport:
        case "stdio":
            found.command, found.args = server.command, list(server.args)
            found.env = {variable.name: variable.value for variable in server.env}
        case "acp":
            found.server_id = server.server_id
        case _:
            found.url = server.url
            found.headers = {header.name: header.value for header in server.headers}
    return found


def block(content: Any) -> Any:
    """Content as it is written: neutral content encodes as itself, unknown content as it came."""
    return content.data if isinstance(content, UnknownContent) else content
