"""A server in ordinary use: pages for operators, limits, logs, web pages, proxies, and how it stops."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.server import INITIALIZE, AgentBackend, Echo, RawClient, Served, serving

import accord
from accord.errors import ConfigError
from accord.server.limits import RateLimiter, ServerLimits
from accord.server.listener import Address

CLOSE = 8


async def open_websocket(served: Served, token: str) -> RawClient:
    """Open a WebSocket and initialize."""
    client = await served.open()
    client.write(served.upgrade(token=token))
    assert (await client.response()).status == 101
    client.write_frame(json.dumps(INITIALIZE).encode())
    assert json.loads((await client.frame())[1])["id"] == 0
    return client


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  (nothing signals it)
        await asyncio.sleep(0.01)


# -- pages for operators


async def test_health_and_readiness_need_no_token_and_any_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        health = await served.request("GET", "/healthz", host="10.0.0.7")
        ready = await served.request("GET", "/readyz", host="10.0.0.7")
    assert (health.status, health.body, ready.status, ready.body) == (200, b"ok\n", 200, b"ready\n")


async def test_metrics_are_in_the_text_format_of_prometheus(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.initialize(served.local_token)
        await served.request("POST", "/acp", body=INITIALIZE)
        await served.request("BREW", "/acp", token=served.local_token)
        response = await served.request("GET", "/metrics")
    text = response.body.decode()
    line = re.compile(r"(# (HELP|TYPE) \w+ .+|\w+(\{\w+=\"[^\"]*\"(,\w+=\"[^\"]*\")*\})? [-+.e\d]+)")
    assert all(line.fullmatch(each) for each in text.splitlines()), text
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    assert {name for name, kind in types.items() if kind == "counter"} == {
        name for name in types if name.endswith("_total")
    }
    assert 'accord_requests_total{method="POST",status="200"} 1' in text
    assert 'accord_requests_total{method="OTHER",status="405"} 1' in text
    assert 'accord_refusals_total{reason="no token"} 1' in text
    assert 'accord_connections{transport="http"} 1' in text
    assert 'accord_messages_total{direction="received"} 1' in text
    assert re.search(r"^process_resident_memory_bytes [1-9]\d{6,}$", text, re.MULTILINE)


async def test_the_access_log_has_every_request_without_secrets(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        token = served.token("anna")
        await served.initialize(token)
        await served.request("GET", "/nothing?word=hunter2", token=token, cookie="session=hunter3", x_key="hunter4")
        client = await open_websocket(served, token)
        await client.close()
        await until(lambda: len(entries(served.access)) == 3)
        logged = entries(served.access)
    assert [(each["event"], each["method"], each["path"], each["status"]) for each in logged] == [
        ("request", "POST", "/acp", 200),
        ("request", "GET", "/nothing", 404),
        ("websocket", "WEBSOCKET", "/acp", 101),
    ]
    assert [each.get("principal") for each in logged] == ["anna", None, "anna"]
    assert all(each["address"] == "127.0.0.1" and each["ms"] >= 0 for each in logged)
    text = served.access.read_text() + served.audit.read_text()
    assert token not in text and "hunter" not in text
    assert served.access.stat().st_mode & 0o777 == 0o600


async def test_the_audit_log_tells_who_was_connected_from_where_and_until_when(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client = await open_websocket(served, served.token("anna", "watcher"))
        await client.close()
        await until(lambda: bool(served.audit_entries("disconnected")))
    (connected,), (left,) = served.audit_entries("connected"), served.audit_entries("disconnected")
    assert (connected["principal"], connected["role"], connected["transport"]) == ("anna", "watcher", "websocket")
    assert left["connection"] == connected["connection"] and left["seconds"] >= 0
    assert [entry["event"] for entry in entries(served.audit)][-4:] == [
        "disconnected",
        "draining",
        "drained",
        "stopped",
    ]


async def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "access.jsonl").mkdir()
    async with serving(tmp_path) as served:
        assert (await served.request("GET", "/healthz")).status == 200


# -- limits


async def test_a_principal_has_a_limited_number_of_connections(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(max_connections_per_principal=2)) as served:
        anna, bert = served.token("anna"), served.token("bert")
        first = await served.initialize(anna)
        socket = await open_websocket(served, anna)
        third = await served.request("POST", "/acp", token=anna, body=INITIALIZE)
        upgrade = await served.exchange(served.upgrade(token=anna))
        await served.initialize(bert)  # has its own
        await served.request("DELETE", "/acp", token=anna, acp_connection_id=first)
        await until(lambda: len(served.server.connections) == 2)
        again = await served.request("POST", "/acp", token=anna, body=INITIALIZE)
        await socket.close()
    assert third.status == upgrade.status == 429
    assert third.error == "anna has 2 connections, the limit for one token. Close one first."
    assert again.status == 200


async def test_the_server_has_a_limited_number_of_connections(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(max_connections=1)) as served:
        await served.initialize(served.token("anna"))
        second = await served.request("POST", "/acp", token=served.token("bert"), body=INITIALIZE)
    assert second.status == 503 and second.headers["retry-after"] == "5"


async def test_a_principal_that_sends_too_many_requests_has_to_wait(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(requests_per_second=0.001, failures_per_minute=60)) as served:
        served.server.application.rates = RateLimiter(0.0001, 2)
        statuses = [(await served.request("DELETE", "/acp", token=served.local_token)).status for _ in range(3)]
        other = await served.request("DELETE", "/acp", token=served.token("anna"))
    assert statuses == [400, 400, 429] and other.status == 400


def test_a_rate_limit_refills_steadily_and_forgets_old_keys() -> None:
    now = 0.0
    limiter = RateLimiter(2, 4, clock=lambda: now)
    assert [limiter.take("a") for _ in range(5)] == [True] * 4 + [False]
    now = 1.0
    assert [limiter.take("a") for _ in range(3)] == [True, True, False]
    for number in range(20_000):
        limiter.take(str(number))
    assert limiter.take("a")  # forgotten: ten thousand others came since


@pytest.mark.parametrize(
    "limits, why",
    [
        (ServerLimits(lifetime_seconds=0.01), "the connection reached its maximum age"),
        (ServerLimits(idle_seconds=0.01), "no messages for too long"),
    ],
)
async def test_a_connection_that_is_too_old_or_idle_is_closed_with_the_reason(
    limits: ServerLimits, why: str, tmp_path: Path
) -> None:
    async with serving(tmp_path, limits=limits) as served:
        client = await served.open()
        client.write(served.upgrade(token=served.local_token))
        assert (await client.response()).status == 101
        opcode, reason = await client.frame()
        await client.close()
    assert (opcode, reason[2:].decode()) == (CLOSE, why)


# -- web pages


async def test_a_page_of_an_allowed_origin_gets_the_headers_that_its_browser_wants(tmp_path: Path) -> None:
    page = "https://page.example"
    async with serving(tmp_path, allow_origins=(page,)) as served:
        preflight = await served.request("OPTIONS", "/ticket", origin=page, access_control_request_method="POST")
        post = await served.request("POST", "/acp", token=served.local_token, body=INITIALIZE, origin=page)
        refused = await served.request("POST", "/acp", body=INITIALIZE, origin=page)
        foreign = await served.request(
            "OPTIONS", "/ticket", origin="https://evil.example", access_control_request_method="POST"
        )
    assert preflight.status == 204 and "authorization" in preflight.headers["access-control-allow-headers"]
    assert {each.headers["access-control-allow-origin"] for each in (preflight, post, refused)} == {page}
    assert "acp-connection-id" in post.headers["access-control-expose-headers"]
    assert foreign.status == 403 and "access-control-allow-origin" not in foreign.headers


async def test_a_page_of_the_same_origin_may_connect(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        origin = f"http://127.0.0.1:{served.port}"
        response = await served.request("POST", "/acp", token=served.local_token, body=INITIALIZE, origin=origin)
    assert response.status == 200


async def test_a_trusted_page_connects_by_websocket_without_a_token_and_only_so(tmp_path: Path) -> None:
    page = "http://localhost:2718"
    backend = AgentBackend(Echo())
    async with serving(tmp_path, backend, trust_origins=(page,), aliases=("/message",)) as served:
        client = await served.open()
        client.write(served.upgrade("/message", origin=page))
        assert (await client.response()).status == 101
        client.write_frame(json.dumps(INITIALIZE).encode())
        assert json.loads((await client.frame())[1])["id"] == 0
        await client.close()
        post = await served.request("POST", "/acp", body=INITIALIZE, origin=page)
        program = await served.exchange(served.upgrade("/message"))
        other = await served.exchange(served.upgrade("/message", origin="http://localhost:2719"))
    assert (post.status, program.status, other.status) == (401, 401, 403)
    assert [tuple(principal) for principal in backend.principals] == [("web", "driver")]


# -- paths, proxies and TLS


async def test_aliases_and_the_prefix_lead_to_the_same_agent(tmp_path: Path) -> None:
    async with serving(tmp_path, aliases=("/message",), prefix="/agents/") as served:
        statuses = {
            path: (await served.request("POST", path, token=served.local_token, body=INITIALIZE)).status
            for path in ("/acp", "/message", "/agents/acp", "/agents/message", "/agents", "/agentsacp", "/other/acp")
        }
        health = await served.request("GET", "/agents/healthz")
    assert statuses == {
        "/acp": 200,
        "/message": 200,
        "/agents/acp": 200,
        "/agents/message": 200,
        "/agents": 404,
        "/agentsacp": 404,
        "/other/acp": 404,
    }
    assert health.status == 200


@pytest.mark.parametrize("prefix", ["", "/agents"])
async def test_binary_frames_are_messages_on_an_alias_only(prefix: str, tmp_path: Path) -> None:
    binary = 0x82
    async with serving(tmp_path, aliases=("/message",), prefix=prefix) as served:
        for path, id in ((f"{prefix}/message", 0), (f"{prefix}/acp", 7)):
            client = await served.open()
            client.write(served.upgrade(path, token=served.local_token))
            assert (await client.response()).status == 101
            client.write_frame(json.dumps(INITIALIZE).encode() + b"\n", first=binary)
            client.write_frame(json.dumps(INITIALIZE | {"id": 7}).encode())
            answer = json.loads((await client.frame())[1])
            assert answer["id"] == id
            await client.close()


async def test_a_binary_frame_that_is_not_a_message_ends_the_connection(tmp_path: Path) -> None:
    async with serving(tmp_path, aliases=("/message",)) as served:
        client = await served.open()
        client.write(served.upgrade("/message", token=served.local_token))
        assert (await client.response()).status == 101
        client.write_frame(b"\xff\x00{", first=0x82)
        opcode, content = await client.frame()
        assert (opcode, int.from_bytes(content[:2], "big")) == (8, 1002)
        await client.close()


async def test_behind_a_proxy_clients_have_the_address_that_the_proxy_saw(tmp_path: Path) -> None:
    async with serving(tmp_path, behind_proxy=True, allow_hosts=("agents.example.org",)) as served:
        await served.request(
            "POST",
            "/acp",
            token=served.local_token,
            body=INITIALIZE,
            host="agents.example.org",
            origin="https://agents.example.org",
            x_forwarded_for="6.6.6.6, 192.0.2.7",
            x_forwarded_proto="https",
        )
    (logged,) = entries(served.access)
    (connected,) = served.audit_entries("connected")
    assert (logged["status"], logged["address"], connected["address"]) == (200, "192.0.2.7", "192.0.2.7")


async def test_without_a_proxy_its_headers_mean_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.request("GET", "/acp", x_forwarded_for="192.0.2.7")
    (logged,) = entries(served.access)
    assert logged["address"] == "127.0.0.1"


async def test_a_certificate_makes_it_https_with_http2(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    import httpx2

    address = Address("127.0.0.1", 0, *certificate)
    context = ssl.create_default_context(cafile=str(certificate[0]))
    async with serving(tmp_path, address=address) as served:
        assert served.url.startswith("https://127.0.0.1:")
        async with httpx2.AsyncClient(http2=True, verify=context) as client:
            headers = {"authorization": f"Bearer {served.local_token}"}
            response = await client.post(served.url, json=INITIALIZE, headers=headers)
    assert (response.status_code, response.http_version) == (200, "HTTP/2")


async def test_a_certificate_that_cannot_be_used_is_an_error_at_the_start(tmp_path: Path) -> None:
    broken = tmp_path / "cert.pem"
    broken.write_text("nothing")
    with pytest.raises(ConfigError, match="can't use the certificate"):
        async with serving(tmp_path, address=Address("127.0.0.1", 0, broken, broken)):
            pass


async def test_a_port_that_is_taken_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"can't listen on 127.0.0.1 port {port}: .*choose another --port"):
            async with serving(tmp_path, address=Address("127.0.0.1", port)):
                pass
    assert not (tmp_path / "local.json").exists()


# -- stopping


class Waiting(accord.Agent):
    """Streams a word, then waits to be released."""

    def __init__(self) -> None:
        self.release = asyncio.Event()

    async def prompt(self, turn: accord.Turn) -> None:
        await turn.say("started")
        await self.release.wait()
        await turn.say("finished")


class DrainingBackend(AgentBackend):
    """Closes when the agent's turn is over."""

    def __init__(self, agent: Waiting) -> None:
        super().__init__(agent)
        self._release = agent.release

    async def close(self, *, drain_seconds: float = 0) -> None:
        if drain_seconds:
            await self._release.wait()


async def start_turn(served: Served) -> RawClient:
    client = await open_websocket(served, served.local_token)
    new = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
    client.write_frame(json.dumps(new).encode())
    session = json.loads((await client.frame())[1])["result"]["sessionId"]
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
    client.write_frame(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt}).encode())
    assert b"started" in (await client.frame())[1]
    return client


async def test_stopping_refuses_new_clients_and_lets_turns_finish(tmp_path: Path) -> None:
    agent = Waiting()
    async with serving(tmp_path, DrainingBackend(agent), drain_seconds=300) as served:
        client = await start_turn(served)
        served.server.stop()
        await until(lambda: bool(served.audit_entries("draining")))
        ready = await served.request("GET", "/readyz")
        health = await served.request("GET", "/healthz")
        late = await served.request("POST", "/acp", token=served.local_token, body=INITIALIZE)
        agent.release.set()
        assert b"finished" in (await client.frame())[1]
        assert json.loads((await client.frame())[1])["result"]["stopReason"] == "end_turn"
        opcode, _ = await client.frame()
        await client.close()
    assert (ready.status, ready.body, health.status, late.status) == (503, b"draining\n", 200, 503)
    assert opcode == CLOSE


async def test_stopping_twice_does_not_wait_for_turns(tmp_path: Path) -> None:
    async with serving(tmp_path, DrainingBackend(Waiting()), drain_seconds=300) as served:
        client = await start_turn(served)
        served.server.stop()
        await until(lambda: bool(served.audit_entries("draining")))
        served.server.stop()
        await client.read_to_end()
        await client.close()
    assert not (tmp_path / "local.json").exists()
