"""Attacks on a server, each over real sockets: what isn't allowed is refused, and the server continues."""

from __future__ import annotations

import asyncio
import functools
import json
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.server import INITIALIZE, RawClient, Served, serving

from accord.server.limits import RateLimiter, ServerLimits

CLOSE = 8
TEXT = 1


async def open_websocket(served: Served, token: str, **headers: str) -> RawClient:
    client = await served.open()
    client.write(served.upgrade(token=token, **headers))
    response = await client.response()
    assert response.status == 101, response
    return client


async def test_without_a_token_nothing_is_served(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        response = await served.request("POST", "/acp", body=INITIALIZE)
        upgrade = await served.exchange(served.upgrade())
    assert response.status == upgrade.status == 401
    assert response.headers["www-authenticate"] == 'Bearer realm="accord"'
    assert response.error == "A token is required. Send it as: Authorization: Bearer TOKEN"


@pytest.mark.parametrize(
    "value",
    ["Bearer ", "Bearer accord_wrong", "Basic YWRtaW46YWRtaW4=", "accord_wrong", "Bearer \xff\xfe", "Bearer a b"],
)
async def test_a_wrong_token_is_refused(value: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        response = await served.request("POST", "/acp", body=INITIALIZE, authorization=value)
    assert response.status == 401


async def test_two_authorization_headers_are_refused_even_if_one_is_valid(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        right = f"Authorization: Bearer {served.local_token}\r\n"
        head = f"POST /acp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\n{right}Content-Length: 0\r\n\r\n"
        response = await served.exchange(head.encode())
    assert response.status == 401


async def test_guessing_tokens_is_slowed_down_and_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = functools.partial(RateLimiter, clock=lambda: 0.0)  # otherwise a guess is granted after twenty seconds
    monkeypatch.setattr("accord.server.authentication.RateLimiter", stopped)
    limits = ServerLimits(failures_per_minute=3)
    async with serving(tmp_path, limits=limits) as served:
        statuses = [
            (await served.request("POST", "/acp", token=f"accord_{guess}", body=INITIALIZE)).status
            for guess in range(4)
        ]
        right = await served.request("POST", "/acp", token=served.local_token, body=INITIALIZE)
        refused = served.audit_entries("refused")
    assert statuses == [401, 401, 401, 429]
    assert right.status == 429  # otherwise the right guess would still be found
    assert [(entry["why"], entry["address"]) for entry in refused] == [("token", "127.0.0.1")] * 3


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example"]
)
async def test_a_page_of_another_origin_is_refused_even_with_a_token(origin: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        post = await served.request("POST", "/acp", token=served.local_token, body=INITIALIZE, origin=origin)
        upgrade = await served.exchange(served.upgrade(token=served.local_token, origin=origin))
        metrics = await served.request("GET", "/metrics", origin=origin)
    assert post.status == upgrade.status == metrics.status == 403
    assert "access-control-allow-origin" not in post.headers


async def test_two_origins_are_refused_even_if_one_is_allowed(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        ours = f"http://127.0.0.1:{served.port}"
        for first, second in ((ours, "http://evil.example"), ("http://evil.example", ours)):
            request = served.upgrade(token=served.local_token, origin=f"{first}\r\nOrigin: {second}")
            assert (await served.exchange(request)).status == 403


@pytest.mark.parametrize(
    "host",
    ["rebound.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "evil.example:80,localhost", ""],
)
async def test_a_name_that_was_rebound_to_loopback_is_refused(host: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        response = await served.request("POST", "/acp", token=served.local_token, body=INITIALIZE, host=host)
        metrics = await served.request("GET", "/metrics", host=host)
    assert response.status in (400, 421) and metrics.status == response.status


async def test_two_host_headers_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        response = await served.exchange(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
    assert response.status == 400


async def test_a_connection_of_another_principal_does_not_exist(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        mine = await served.initialize(served.token("anna"))
        theirs = served.token("bert")
        prompt = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
        post = await served.request("POST", "/acp", token=theirs, body=prompt, acp_connection_id=mine)
        get = await served.request("GET", "/acp", token=theirs, accept="text/event-stream", acp_connection_id=mine)
        delete = await served.request("DELETE", "/acp", token=theirs, acp_connection_id=mine)
        unknown = await served.request("DELETE", "/acp", token=theirs, acp_connection_id="0" * 32)
    assert post.status == get.status == delete.status == 404
    assert delete.body == unknown.body


async def test_connection_ids_cannot_be_guessed(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        token = served.local_token
        ids = {await served.initialize(token) for _ in range(5)}
    assert len(ids) == 5 and all(len(bytes.fromhex(each)) * 8 >= 128 for each in ids)


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(max_body_bytes=10_000)) as served:
        head = served.encode("POST", "/acp", token=served.local_token, body=b"", content_length="10001")
        response = await served.exchange(head)
    assert response.status == 413 and "10000 bytes" in response.error


async def test_a_chunked_body_that_becomes_too_long_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(max_body_bytes=10_000)) as served:
        client = await served.open()
        client.write(
            served.encode(
                "POST", "/acp", token=served.local_token, transfer_encoding="chunked", content_type="application/json"
            )
        )
        client.write(b"1000\r\n" + b" " * 4096 + b"\r\n" + b"2000\r\n" + b" " * 8192 + b"\r\n")
        response = await client.response()
        await client.read_to_end()
        await client.close()
    assert response.status == 413


async def test_a_websocket_message_that_is_too_long_ends_the_connection(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(max_body_bytes=10_000)) as served:
        client = await open_websocket(served, served.local_token)
        client.write_frame(b" " * 10_001)
        code = (await client.frame())[1][:2]
        await client.close()
    assert int.from_bytes(code, "big") == 1009


@pytest.mark.parametrize(
    "more", [{"x_long": "x" * 20_000}, {f"x_{number}": "y" for number in range(70)}], ids=["size", "number"]
)
async def test_headers_that_are_too_long_or_too_many_are_refused(more: dict[str, str], tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        response = await served.request("POST", "/acp", token=served.local_token, body=INITIALIZE, **more)
    assert response.status == 431


async def test_a_request_that_never_completes_its_headers_is_cut_off(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(header_seconds=0.3)) as served:
        client = await served.open()
        client.write(b"POST /acp HTTP/1.1\r\nHost: 127.0.0.1\r\n")

        async def drip() -> None:
            """Send one header after another, as slowloris does, to look alive."""
            number = 0
            while True:
                client.write(b"X-%d: 1\r\n" % number)
                number += 1
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        await client.read_to_end()  # ends although the client never stopped sending
        dripping.cancel()
        await client.close()
        await until_healthy(served)


async def test_a_body_that_never_completes_is_cut_off(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(body_seconds=0.3)) as served:
        client = await served.open()
        client.write(served.encode("POST", "/acp", token=served.local_token, body=b"{", content_length="1000"))
        response = await client.response()
        await client.read_to_end()
        await client.close()
    assert response.status == 408


async def test_connections_past_the_limit_are_closed_before_anything_is_read(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(max_sockets_per_address=3, header_seconds=300)) as served:
        first = [await served.open() for _ in range(3)]
        for client in first:
            client.write(served.encode("GET", "/healthz"))
            assert (await client.response()).status == 200
        fourth = await served.open()
        assert await fourth.read_to_end() == b""
        for client in (*first, fourth):
            await client.close()
    assert served.server.listener.gate.refused == 1


async def test_connections_that_are_closed_do_not_count(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(max_sockets=1, header_seconds=300)) as served:
        for _ in range(5):
            client = await served.open()
            client.write(served.encode("GET", "/healthz", connection="close"))
            assert (await client.response()).status == 200
            await client.read_to_end()
            await client.close()
            await until(lambda: served.server.listener.gate.count == 0)


async def test_a_compressed_body_is_not_unpacked(tmp_path: Path) -> None:
    bomb = zlib.compress(b" " * 10_000_000)
    async with serving(tmp_path) as served:
        for encoding in ("gzip", "deflate", "br", "identity, gzip"):
            response = await served.request(
                "POST", "/acp", token=served.local_token, body=bomb, content_encoding=encoding
            )
            assert response.status == 415, encoding


async def test_a_compressed_websocket_message_that_unpacks_to_too_much_ends_the_connection(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packer.compress(b" " * 5_000_000) + packer.flush(zlib.Z_SYNC_FLUSH)
    assert len(bomb) < 10_000
    async with serving(tmp_path, limits=ServerLimits(max_body_bytes=100_000)) as served:
        client = await open_websocket(served, served.local_token, sec_websocket_extensions="permessage-deflate")
        client.write_frame(bomb[:-4], first=0xC1)
        code = (await client.frame())[1][:2]
        await client.close()
        assert (await served.request("GET", "/healthz")).status == 200
    assert int.from_bytes(code, "big") == 1009


SMUGGLED = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nContent-Length: 50\r\n",
        b"Content-Length: 5, 50\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: 0x5\r\n",
        b"Content-Length: 5\r\n Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: identity, chunked\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Transfer-Encoding:\x0bchunked\r\n",
        b"Transfer-Encoding: chunked\nContent-Length: 5\r\n",
        b"X: y\r\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    ],
)
async def test_a_request_with_an_ambiguous_length_is_refused_and_nothing_after_it_is_read(
    lengths: bytes, tmp_path: Path
) -> None:
    async with serving(tmp_path) as served:
        head = f"POST /acp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {served.local_token}\r\n".encode()
        client = await served.open()
        client.write(head + b"Content-Type: application/json\r\n" + lengths + b"\r\n0\r\n\r\n" + SMUGGLED)
        response = await client.response()
        rest = await client.read_to_end()
        await client.close()
    assert response.status in (400, 501), response
    assert rest == b""


async def test_a_chunk_with_a_bad_length_ends_the_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client = await served.open()
        client.write(
            served.encode(
                "POST", "/acp", token=served.local_token, transfer_encoding="chunked", content_type="application/json"
            )
        )
        client.write(b"-1\r\n" + SMUGGLED)
        answered = await client.read_to_end()
        await client.close()
    assert b"accord_requests_total" not in answered


@pytest.mark.parametrize("parameter", ["token", "access_token", "Authorization", "key", "ticket", "x"])
async def test_a_token_in_the_url_is_refused_and_not_logged(parameter: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        token = served.local_token
        response = await served.request("POST", f"/acp?{parameter}={token}", token=token, body=INITIALIZE)
        upgrade = await served.exchange(served.upgrade(f"/acp?{parameter}={token}"))
        in_path = await served.request("GET", f"/{token}", token=token)
    assert response.status == upgrade.status == in_path.status == 400
    assert response.error.startswith("Never put a token in a URL")
    assert token not in served.access.read_text() and token not in served.audit.read_text()


async def test_a_request_cannot_control_the_terminal_that_shows_the_log(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.request("POST", "/acp", body=INITIALIZE, acp_connection_id="\x9b2J")
        (entry,) = served.access.read_text().splitlines()
    assert "2J" in entry and entry.isprintable()


async def test_revoking_a_token_closes_its_websocket_and_its_streams(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        token, other = served.token("anna"), served.token("bert")
        socket, others = await open_websocket(served, token), await open_websocket(served, other)
        for client in (socket, others):
            client.write_frame(json.dumps(INITIALIZE).encode())
            assert (await client.frame())[0] == TEXT
        stream = await served.open()
        connection = await served.initialize(token)
        stream.write(
            served.encode("GET", "/acp", token=token, accept="text/event-stream", acp_connection_id=connection)
        )
        assert (await stream.response()).status == 200

        served.tokens.revoke("anna")

        opcode, reason = await socket.frame()
        await stream.reader.readuntil(b"0\r\n\r\n")  # the last chunk
        again = await served.request("POST", "/acp", token=token, body=INITIALIZE)
        others.write_frame(json.dumps({**INITIALIZE, "id": 7, "method": "_unknown"}).encode())
        answer = json.loads((await others.frame())[1])
        for client in (socket, others, stream):
            await client.close()
    assert opcode == CLOSE and int.from_bytes(reason[:2], "big") == 1008
    assert reason[2:] == b"the token was revoked or has expired"
    assert again.status == 401
    assert answer["id"] == 7


@pytest.mark.parametrize(
    "path",
    [
        "/acp/../acp",
        "//acp",
        "/./acp",
        "/%61cp",
        "/acp%2f",
        "/acp%00",
        "/acp;x",
        "/acp/",
        "/ACP",
        "/healthz/../acp",
        "/healthz%2f..%2facp",
        "http://127.0.0.1/acp",
        "/acp#x",
        "*",
        "/acp\\",
    ],
)
async def test_a_path_is_only_what_it_says(path: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        response = await served.request("POST", path, token=served.local_token, body=INITIALIZE)
    assert response.status in (400, 404), response


async def test_a_ticket_works_once_and_only_for_its_origin(tmp_path: Path) -> None:
    page, other = "https://page.example", "https://other.example"
    async with serving(tmp_path, allow_origins=(page, other)) as served:

        async def buy() -> str:
            response = await served.request("POST", "/ticket", token=served.token(f"page{len(tickets)}"), origin=page)
            assert response.status == 201, response
            assert response.headers["access-control-allow-origin"] == page
            tickets.append(json.loads(response.body)["subprotocol"])
            return tickets[-1]

        async def use(ticket: str, origin: str) -> int:
            offered = f"acp, {ticket}"
            response = await served.exchange(served.upgrade(origin=origin, sec_websocket_protocol=offered))
            if response.status == 101:
                assert response.headers["sec-websocket-protocol"] == "acp"
            return response.status

        tickets: list[str] = []
        assert [await use(await buy(), page), await use(tickets[0], page)] == [101, 401]
        assert [await use(await buy(), other), await use(tickets[1], page)] == [401, 401]  # spent by the attempt
        assert await use("accord.ticket.guessed", page) == 401


async def test_a_ticket_is_worth_nothing_once_its_token_is_revoked(tmp_path: Path) -> None:
    page = "https://page.example"
    async with serving(tmp_path, allow_origins=(page,)) as served:
        bought = await served.request("POST", "/ticket", token=served.token("anna"), origin=page)
        ticket = json.loads(bought.body)["subprotocol"]
        served.tokens.revoke("anna")
        used = await served.exchange(served.upgrade(origin=page, sec_websocket_protocol=f"acp, {ticket}"))
    assert used.status == 401


async def test_a_ticket_cannot_be_used_as_a_token_or_buy_another_ticket(tmp_path: Path) -> None:
    page = "https://page.example"
    async with serving(tmp_path, allow_origins=(page,)) as served:
        bought = await served.request("POST", "/ticket", token=served.local_token, body={"origin": page})
        ticket = json.loads(bought.body)["ticket"]
        as_token = await served.request("POST", "/acp", token=ticket, body=INITIALIZE)
        another = await served.request("POST", "/ticket", token=ticket, origin=page)
        foreign = await served.request(
            "POST", "/ticket", token=served.local_token, body={"origin": "https://evil.example"}
        )
    assert (bought.status, as_token.status, another.status, foreign.status) == (201, 401, 401, 403)


async def test_only_an_admin_or_this_machine_reads_the_metrics(tmp_path: Path) -> None:
    async with serving(tmp_path, behind_proxy=True) as served:
        driver, admin = served.token("driver"), served.token("boss", "admin")
        nobody = await served.request("GET", "/metrics")
        faked = await served.request("GET", "/metrics", x_forwarded_for="127.0.0.1")
        other = await served.request("GET", "/metrics", token=driver)
        boss = await served.request("GET", "/metrics", token=admin)
    assert (nobody.status, faked.status, other.status, boss.status) == (401, 401, 403, 200)


@pytest.mark.parametrize("header", ["x_forwarded_for", "forwarded"])
async def test_the_metrics_are_not_public_behind_a_proxy_that_the_server_does_not_know(
    header: str, tmp_path: Path
) -> None:
    async with serving(tmp_path) as served:
        assert (await served.request("GET", "/metrics", **{header: "for=203.0.113.7"})).status == 401
        assert (await served.request("GET", "/metrics")).status == 200


async def until_healthy(served: Served) -> None:
    """Ask until the server answers. It cuts off a client that a busy machine keeps from sending its headers in time."""
    while True:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            assert (await served.request("GET", "/healthz")).status == 200
            return


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  (nothing signals it)
        await asyncio.sleep(0.01)
