"""Clouds and subscriptions: local servers that speak their protocols, and the agent on their models."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import httpx2
import pytest
from coder.keyrings import in_use
from coder.models.provider_client import their_warnings
from coder.providers.script import Calls, Holds, Says, Thinks
from coder.providers.server import FakeProvider
from keyring.backends import fail

import accord
from accord.coder.agent import Coder
from accord.coder.credentials import Keys
from accord.coder.key_file import KeyFile
from accord.coder.login import LoginError, log_in
from accord.coder.models.catalog import available, default_model
from accord.coder.shared_resources import SharedResources
from accord.errors import AuthRequired, RequestFailed

pytestmark = [their_warnings, pytest.mark.filterwarnings("ignore::DeprecationWarning:botocore")]
Join = Callable[..., Any]


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path / "data"))
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "GOOGLE_CLOUD_PROJECT", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    with in_use(fail.Keyring()):
        yield


@pytest.fixture
async def fake() -> Any:
    async with FakeProvider() as provider:
        yield provider


def agent_on(model: str) -> Coder:
    return Coder(shared=SharedResources(model=model, pauses=()))


async def work(fake: FakeProvider, joined: Join, project: Path, model: str) -> list[Any]:
    """Let the agent read a file and answer. Return the requests to the model."""
    (project / "a.py").write_text("print('of a')\n")
    fake.says(Thinks("Hm."), Says("I look."), Calls("read_file", {"file_path": "a.py"}, id="c1"))
    fake.says(Says("It ", "prints."))
    before = len(fake.asked)
    async with joined(agent_on(model)) as client:
        session = await client.new_session()
        turn = await session.prompt("What does a.py do?")
    assert (turn.stop_reason, turn.text) == ("end_turn", "I look.It prints.")
    assert [call.status for call in turn.tool_calls] == ["completed"]
    requests = [asked for asked in fake.asked[before:] if asked.method == "POST" and asked.path not in fake.documents]
    assert len(requests) == 2
    assert "of a" in json.dumps(requests[1].body)
    return requests


# -- with keys


@pytest.mark.parametrize("suffix", ["", "/openai/v1"])
async def test_azure_is_used_through_the_responses_api_of_the_users_resource(
    fake: FakeProvider, joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{fake.url}{suffix}")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key-of-azure")
    first, second = await work(fake, joined, project, "azure:gpt-6.1-sol")
    assert first.path == "/openai/v1/responses"
    assert "key-of-azure" in (first.headers.get("api-key", "") + first.headers.get("authorization", ""))
    assert first.body["store"] is False
    assert first.body["prompt_cache_key"]
    assert (first.body["reasoning"]["effort"], first.body["reasoning"]["summary"]) == ("medium", "auto")
    assert json.dumps(second.body["input"]).startswith(json.dumps(first.body["input"])[:-1])


async def test_azure_says_which_address_it_needs(joined: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key-of-azure")
    async with joined(agent_on("azure:mine")) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="Azure OpenAI needs its address: set AZURE_OPENAI_ENDPOINT"):
            await session.prompt("go")


async def test_vercel_is_used_with_the_names_of_its_gateway(
    fake: FakeProvider, joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AI_GATEWAY_BASE_URL", f"{fake.url}/v1")
    monkeypatch.setenv("AI_GATEWAY_API_KEY", "key-of-vercel")
    first, _ = await work(fake, joined, project, "vercel:openai/gpt-6.1-sol")
    assert (first.path, first.body["model"]) == ("/v1/chat/completions", "openai/gpt-6.1-sol")
    assert first.headers["authorization"] == "Bearer key-of-vercel"
    assert first.body["providerOptions"] == {"gateway": {"caching": "auto"}}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("vercel:anthropic/claude-sonnet-5.5", "anthropic/claude-sonnet-5.5"),
        ("copilot:claude-sonnet-4.6", "claude-sonnet-4.6"),
    ],
)
async def test_claude_is_used_through_the_messages_api_of_a_gateway(
    fake: FakeProvider, joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch, model: str, name: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-anthropic")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-anthropic")
    monkeypatch.setenv("AI_GATEWAY_BASE_URL", f"{fake.url}/v1")
    monkeypatch.setenv("AI_GATEWAY_API_KEY", "key-of-the-gateway")
    monkeypatch.setenv("GITHUB_COPILOT_BASE_URL", fake.url)
    monkeypatch.setenv("GITHUB_COPILOT_API_KEY", "key-of-the-gateway")
    first, second = await work(fake, joined, project, model)
    assert (first.path, first.body["model"]) == ("/v1/messages", name)
    assert first.headers["authorization"] == "Bearer key-of-the-gateway"
    assert "of-anthropic" not in json.dumps(first.headers)
    assert ("copilot-integration-id" in first.headers) == (model.startswith("copilot"))
    thought, *_ = second.body["messages"][1]["content"]
    assert thought == {"type": "thinking", "thinking": "Hm.", "signature": "sealed"}


async def test_copilot_gets_its_headers(
    fake: FakeProvider, joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_COPILOT_BASE_URL", fake.url)
    monkeypatch.setenv("GITHUB_COPILOT_API_KEY", "token-of-github")
    first, _ = await work(fake, joined, project, "copilot:gpt-5.4")
    assert first.path == "/chat/completions"
    assert first.headers["authorization"] == "Bearer token-of-github"
    assert "copilot-integration-id" in first.headers


# -- with credentials that their own libraries find


@pytest.fixture
def google_credentials(fake: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service account whose tokens come from the local server."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    account = {
        "type": "service_account",
        "project_id": "my-project",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "me@my-project.iam.gserviceaccount.com",
        "token_uri": f"{fake.url}/token",
    }
    file = tmp_path / "account.json"
    file.write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", fake.url)
    fake.documents["/token"] = {"access_token": "token-of-google", "expires_in": 3600, "token_type": "Bearer"}


@pytest.mark.usefixtures("google_credentials")
async def test_google_cloud_is_used_with_default_credentials(fake: FakeProvider, joined: Join, project: Path) -> None:
    first, _ = await work(fake, joined, project, "vertex:gemini-3.8-flash")
    assert "/projects/my-project/locations/global/publishers/google/models/gemini-3.8-flash:" in first.path
    assert first.headers["authorization"] == "Bearer token-of-google"


@pytest.fixture
def aws_credentials(fake: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-aws")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", fake.url)


CLAUDE = "bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0"


@pytest.mark.usefixtures("aws_credentials")
async def test_bedrock_gets_signed_requests_with_cache_points(fake: FakeProvider, joined: Join, project: Path) -> None:
    first, second = await work(fake, joined, project, CLAUDE)
    assert first.path.endswith("/converse-stream")
    assert "AKIA0000" in first.headers["authorization"]
    assert "cachePoint" in first.body["system"][-1]
    assert "cachePoint" in first.body["toolConfig"]["tools"][-1]
    assert "cachePoint" in second.body["messages"][-1]["content"][-1]
    assert first.body["additionalModelRequestFields"]["thinking"]["type"] == "enabled"
    assert "secret-of-aws" not in json.dumps(first.body)


@pytest.mark.usefixtures("aws_credentials")
async def test_cancelling_a_turn_on_bedrock_ends_it_at_once(fake: FakeProvider, joined: Join) -> None:
    fake.says(Says("One, two"), Holds())
    async with joined(agent_on(CLAUDE)) as client:
        session = await client.new_session()
        async for event in session.prompt("Count to a million."):
            if isinstance(event, accord.Text):
                await session.cancel()
        assert session.last_turn.stop_reason == "cancelled"
    fake.goes_on()


@pytest.mark.usefixtures("aws_credentials")
async def test_rejected_aws_credentials_are_an_error_with_advice(fake: FakeProvider, joined: Join) -> None:
    fake.refuses(403, "The security token included in the request is invalid.", x_amzn_errortype="AccessDenied")
    async with joined(agent_on(CLAUDE)) as client:
        session = await client.new_session()
        with pytest.raises(AuthRequired, match="Amazon Bedrock rejected your AWS credentials"):
            await session.prompt("go")


async def test_clouds_without_credentials_say_what_to_do(joined: Join) -> None:
    for model, words in (
        ("vertex:gemini-3.8-flash", "set GOOGLE_CLOUD_PROJECT, and run: gcloud auth application-default login"),
        (CLAUDE, "set AWS_REGION, and run: aws configure"),
        ("chatgpt:gpt-6.1-sol", "ChatGPT needs your ChatGPT login: run: accord login chatgpt"),
        ("copilot:gpt-5.4", "set GITHUB_COPILOT_API_KEY, or run: accord login copilot"),
    ):
        async with joined(agent_on(model)) as client:
            session = await client.new_session()
            with pytest.raises(RequestFailed, match=words):
                await session.prompt("go")


def test_clouds_offer_the_models_that_are_known_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "vertex" not in {info.provider for info in available()}
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")
    offered = {info.id: info for info in available()}
    info = offered["vertex:gemini-3.8-flash"]
    assert info.context > 500_000
    assert info.price is not None
    assert default_model(keys=Keys()).startswith("vertex:gemini")


# -- with a login


@pytest.fixture
def internet(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hosts that the login libraries insist on are the local server."""
    send = httpx2.AsyncHTTPTransport.handle_async_request

    async def send_here(transport: Any, request: httpx2.Request) -> httpx2.Response:
        if request.url.host in ("auth.openai.com", "api.openai.com", "github.com"):
            here = urlsplit(fake.url)
            request.url = request.url.copy_with(scheme="http", host=here.hostname, port=here.port)
        return await send(transport, request)

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", send_here)


def jwt(**claims: Any) -> str:
    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part(claims)}.sealed"


def tokens(number: int, **more: Any) -> dict[str, Any]:
    return {
        "access_token": jwt(exp=time.time() + 3600, n=number),
        "refresh_token": f"refresh-token-{number}",
        "scope": "openid offline_access chatgpt.tokens.use.direct",
        **more,
    }


async def sign_in(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch, **answer: Any) -> str:
    """Sign in with ChatGPT as a user does, with a browser. Return what `accord login` prints."""
    shown: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    monkeypatch.setattr("accord.coder.chatgpt_login.PORT", 0)
    monkeypatch.setattr("click.echo", lambda text, **_: loop.call_soon_threadsafe(shown.put_nowait, text))
    login = asyncio.create_task(asyncio.to_thread(log_in, "chatgpt"))
    url = next(line for line in (await shown.get()).splitlines() if line.startswith("https://"))
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    claims = {"iss": "https://auth.openai.com", "aud": "client-1", "sub": "me", "nonce": asked["nonce"]}
    id_token = jwt(exp=time.time() + 3600, **claims)
    fake.documents["/api/accounts/oauth/token"] = tokens(1, id_token=id_token) | answer
    callback = f"{asked['redirect_uri']}?code=c&state={asked['state']}&client_id=client-1"

    def visit() -> None:
        for _ in range(200):  # the page comes back before the login listens, if the machine is busy
            try:
                with urlopen(callback) as page:
                    page.read()
                return
            except OSError:
                time.sleep(0.05)

    await asyncio.to_thread(visit)
    return await login


@pytest.mark.usefixtures("internet")
async def test_signing_in_with_chatgpt_makes_the_models_of_the_plan_available(
    fake: FakeProvider, joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = await sign_in(fake, monkeypatch)
    assert printed.startswith("Saved the login for ChatGPT in ")
    saved = json.loads(KeyFile().read()["chatgpt"])
    assert (saved["client_id"], saved["refresh_token"]) == ("client-1", "refresh-token-1")
    first, _ = await work(fake, joined, project, "chatgpt:gpt-6.1-sol")
    assert first.path == "/v1/responses"
    assert first.headers["authorization"] == f"Bearer {saved['access_token']}"
    assert first.body["store"] is False
    keys = Keys()
    await keys.read()
    assert {saved["access_token"], saved["refresh_token"], saved["id_token"]} <= keys.values()


@pytest.mark.usefixtures("internet")
async def test_an_expired_chatgpt_login_is_renewed_and_saved(
    fake: FakeProvider, joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sign_in(fake, monkeypatch)
    fake.documents["/api/accounts/oauth/token"] = tokens(2)
    fake.refuses(401, "expired")
    fake.says(Says("Here."))
    async with joined(agent_on("chatgpt:gpt-6.1-sol")) as client:
        session = await client.new_session()
        assert (await session.prompt("go")).text == "Here."
    saved = json.loads(KeyFile().read()["chatgpt"])
    assert saved["refresh_token"] == "refresh-token-2"
    assert fake.asked[-1].headers["authorization"] == f"Bearer {saved['access_token']}"


@pytest.mark.usefixtures("internet")
async def test_a_chatgpt_login_that_cannot_be_renewed_asks_for_a_new_one(
    fake: FakeProvider, joined: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sign_in(fake, monkeypatch)
    fake.documents["/api/accounts/oauth/token"] = {"error": "invalid_grant"}
    fake.refuses(401, "revoked")
    async with joined(agent_on("chatgpt:gpt-6.1-sol")) as client:
        session = await client.new_session()
        with pytest.raises(AuthRequired, match=r"ChatGPT rejected your ChatGPT login.*accord login chatgpt"):
            await session.prompt("go")


@pytest.mark.usefixtures("internet")
async def test_a_chatgpt_login_without_the_plan_is_not_saved(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LoginError, match="didn't allow Accord to use your ChatGPT plan"):
        await sign_in(fake, monkeypatch, scope="openid")
    assert KeyFile().read() == {}


@pytest.mark.usefixtures("internet")
async def test_copilot_logs_in_with_a_code(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACCORD_GITHUB_CLIENT_ID", "Iv1.mine")
    challenge = {"device_code": "d", "user_code": "ABCD-1234", "expires_in": 900, "interval": 1}
    fake.documents["/login/device/code"] = {**challenge, "verification_uri": "https://github.com/login/device"}
    granted = {"access_token": "gho_token", "token_type": "bearer", "scope": ""}
    fake.documents["/login/oauth/access_token"] = granted
    await asyncio.to_thread(log_in, "copilot")
    assert "Open https://github.com/login/device and enter this code: ABCD-1234" in capsys.readouterr().err
    assert KeyFile().read() == {"copilot": "gho_token"}
    assert fake.asked[0].body["client_id"] == "Iv1.mine"
