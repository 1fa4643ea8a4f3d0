"""Log in to a model provider with a key, without leaving the client: for the built-in agent, whose keys are the host's.

The key is checked, then saved or used until the end of this process. It is never part of a message, a log or a
prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.errors import AccordError
from accord.terminal_text import one_line

if TYPE_CHECKING:
    from accord.tui.agent.process import AgentProcess
    from accord.tui.app import AccordApp
    from accord.tui.host import KeyProvider, KeyStore
    from accord.tui.screens.key import EnteredKey
    from accord.tui.tab.tab import Tab


class KeyLogin:
    """Asks for the key of a provider, and switches the session to one of its models."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app

    def has_keys(self, process: AgentProcess) -> bool:
        """Return whether the keys of an agent can be entered here."""
        return self._find_store(process) is not None

    def _find_store(self, process: AgentProcess) -> KeyStore | None:
        return self._app.host.key_store(process.launch) if process.launch is not None else None

    async def run(self, tab: Tab, name: str = "", reason: str = "") -> None:
        """Log in to a provider by its name, or to one that the user chooses. `reason` is why a key is needed."""
        process = tab.controller.process
        store = self._find_store(process)
        if store is None or process.agent is None:
            return
        provider = await self._choose_provider(store, name)
        if provider is None:
            return
        from accord.tui.screens.key import KeyScreen

        entered: EnteredKey | None = await self._app.dialogs.show(
            KeyScreen(provider, lambda key: store.check(provider.name, key), reason)
        )
        if entered is None:
            return
        place = await self._choose_place(store, provider)
        if place is None:
            self._app.notify("The key wasn't saved or used.")
            return
        try:
            notice = await store.save(provider.name, entered.value, place)
            if store.needs_restart(provider.name, place):
                await process.agent.restarts.reconnect()
            else:
                await process.agent.login(store.method)
        except AccordError as error:
            self._app.notify(str(error), severity="error", timeout=10)
            return
        tab.controller.say("info", notice, entered.note or None)
        await self._use_model(tab, store, provider)

    async def _choose_provider(self, store: KeyStore, name: str) -> KeyProvider | None:
        from accord.tui.screens.picker import Picker, Row

        providers = await store.list_providers()
        named = next((each for each in providers if name.lower() in (each.name, each.title.lower())), None)
        if named is not None:
            return named
        if name:
            self._app.notify(f"There is no provider “{one_line(name, 40)}”.", severity="warning")
        rows = [Row(each.name, each.title, f"key in {each.source}" if each.source else "") for each in providers]
        about = "Local servers need no key: /model ollama:NAME, for example."
        picked = await self._app.dialogs.show(Picker("Log in: choose a provider", rows, about=about))
        return next((each for each in providers if picked is not None and each.name == picked.id), None)

    async def _choose_place(self, store: KeyStore, provider: KeyProvider) -> str | None:
        from accord.tui.screens.picker import Picker, Row

        rows = [Row(id, label, about) for id, label, about in await store.list_places()]
        screen = Picker(f"Where to save the key for {provider.title}", rows, placeholder="")
        picked = await self._app.dialogs.show(screen)
        return picked.id if picked is not None else None

    async def _use_model(self, tab: Tab, store: KeyStore, provider: KeyProvider) -> None:
        """Switch to a model of the provider, unless the session has one."""
        session = tab.controller.session
        option = session.option("model") if session is not None else None
        listed = store.list_models(provider.name)
        model = provider.model or (f"{provider.name}:{listed[0]}" if listed else "")
        if session is None or option is None or not model:
            return
        if str(option.value).partition(":")[0] != provider.name:
            await self._app.attempt(session.set_option(option.id, model, unlisted=True))
        now = session.option("model")
        self._app.notify(f"Logged in to {provider.title}. Model: {now.value_name if now is not None else model}")
        tab.schedule_draw()
