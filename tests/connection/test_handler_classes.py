"""Base classes of typed handlers: each protocol method is declared, and a misspelled one is reported early."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

from accord import UsageError, v1, v2
from accord.connection.typed_connection import python_name
from accord.transports.memory import pair

VERSIONS = [pytest.param(v1, id="v1"), pytest.param(v2, id="v2")]


@pytest.mark.parametrize("module", VERSIONS)
@pytest.mark.parametrize("side", ["agent", "client"])
def test_every_method_of_the_schema_is_declared(module: ModuleType, side: str) -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    (found,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == f"{side.title()}Handlers"]
    declared = {
        node.name: ast.unparse(node.args.args[1].annotation or ast.Constant(None)).removeprefix("schema.")
        for node in ast.walk(found)
        if isinstance(node, ast.FunctionDef)
    }
    methods = [*module.methods.REQUESTS.values(), *module.methods.NOTIFICATIONS.values()]
    served = [method for method in methods if method.served_by == side]

    assert set(declared) == {python_name(method) for method in served}
    for method in served:
        if isinstance(method.params, type):
            assert declared[python_name(method)] == method.params.__name__


def test_a_misspelled_handler_is_reported_when_its_class_is_created() -> None:
    with pytest.raises(UsageError, match=r"Helper\.session_promt is never called: .* did you mean session_prompt\?"):

        class Helper(v1.AgentHandlers):
            def session_promt(self, params: v1.PromptRequest) -> v1.PromptResponse:
                return v1.PromptResponse(stop_reason="end_turn")


def test_helpers_and_private_methods_are_left_alone() -> None:
    class Helper(v2.ClientHandlers):
        def remember(self, text: str) -> None: ...

        def _session_updat(self) -> None: ...

    assert Helper().remember("a") is None


async def test_handlers_that_are_only_declared_are_not_served() -> None:
    class Silent(v1.AgentHandlers):
        def initialize(self, params: v1.InitializeRequest) -> v1.InitializeResponse:
            return v1.InitializeResponse(protocol_version=1)

    left, right = pair()
    client = v1.serve(right, Silent())
    async with v1.connect(left, v1.ClientHandlers()) as agent:
        assert (await agent.initialize(v1.InitializeRequest(protocol_version=1))).protocol_version == 1
        with pytest.raises(Exception, match="Method not found: session/new"):
            await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
    await client.close()
