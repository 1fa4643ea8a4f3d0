"""Login, login state, and model providers."""

from __future__ import annotations

from accord.agent.agent import command
from accord.agent.client import Client
from accord.agent.turn import Turn
from accord.errors import AuthRequired
from accord.model.account import Account, AuthStatus, Provider, ProviderConfig
from accord.model.requests import AuthMethod
from accord.showcase.topic import Topic

AUTH_METHODS = [
    AuthMethod(id="pretend", name="Pretend to log in", description="Needs no account and always works"),
    AuthMethod(id="page", name="Log in on a page", description="Asks for a name, then opens a page"),
]
PAGE = "https://example.com/login"
NAME = {"properties": {"name": {"type": "string", "title": "Name", "default": "Ada"}}, "required": ["name"]}


class Accounts(Topic):
    """Login, login state and providers."""

    title = "Accounts"

    def __init__(self, *, pace: float = 0.0, client_timeout: float = 15.0) -> None:
        super().__init__(pace=pace, client_timeout=client_timeout)
        self.name: str | None = None
        """The name of the account that is logged in."""
        main = ProviderConfig(api_type="anthropic", base_url="https://models.example.com/v1")
        self.providers: dict[str, Provider] = {
            "main": Provider(id="main", supported=["anthropic", "openai"], required=True, current=main),
            "spare": Provider(id="spare", supported=["openai", "azure"]),
        }

    async def login(self, method_id: str, client: Client) -> None:
        """Log in. The second method asks the user, if the client supports it."""
        name, id = "Ada", "showcase-login"
        if method_id == "page" and client.offers.forms:
            reply = await client.ask("Which name do you want to log in with?", NAME)
            if not reply.accepted or reply.content is None:
                raise AuthRequired("You didn't enter a name.")
            name = str(reply.content["name"])
        if method_id == "page" and client.offers.urls:
            reply = await client.ask("Confirm the login on this page. Nothing is sent there.", url=PAGE, id=id)
            if not reply.accepted:
                raise AuthRequired("You didn't open the page.")
            await client.page_done(id)
        self.name = name
        await client.set_auth_status(self.auth_status())

    def auth_status(self) -> AuthStatus:
        if self.name is None:
            return AuthStatus(state="unauthenticated")
        account = Account(label=f"{self.name} (pretend)", active=True, name=self.name, email="ada@example.com")
        return AuthStatus(state="authenticated", accounts=[account])

    def set_provider(self, id: str, config: ProviderConfig | None) -> None:
        """Configure or disable a provider. Headers aren't stored: they hold keys, and no request is ever sent."""
        if config is not None:
            config.headers = {}
        self.providers[id].current = config

    @command("auth", "Requires a login; works once you have logged in")
    async def show_auth(self, turn: Turn) -> None:
        if self.name is None:
            raise AuthRequired("Log in first; “Pretend to log in” always works.")
        await turn.say("You are logged in. Log out to see the request again.")

    @command("auth-status", "Reports the login state as unknown, then as it is (unstable)")
    async def show_auth_status(self, turn: Turn) -> None:
        status = self.auth_status()
        await turn.client.set_auth_status(AuthStatus(state="unknown"))
        await self.pause(5)
        await turn.client.set_auth_status(status)
        await turn.say(f"Reported the login state as unknown, then as {status.state}. `auth/status` returns the same.")

    @command("providers", "Lists the model providers and their current settings (unstable)")
    async def show_providers(self, turn: Turn) -> None:
        for provider in self.providers.values():
            current = provider.current
            where = f"{current.api_type} at {current.base_url}" if current is not None else "disabled"
            await turn.say(f"- {provider.id}: {where}; supports {', '.join(provider.supported)}\n")
        await turn.say("\nChange them with `providers/set` and `providers/disable`.")
