"""The current state of a session, for clients that open it later."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from accord.hub.dialect import Dialect, Usage
from accord.hub.event_log import SessionRecord
from accord.hub.raw_params import decode, read_kind, read_object, read_text, replace_fields, write_object

_STATELESS = ("agent_message_chunk", "agent_thought_chunk", "tool_call_update", "tool_call")
"""Updates that don't change the state."""


class SessionState:
    """Applies a session's updates to the `result` and `title` of its record."""

    def __init__(self, record: SessionRecord, dialect: Dialect) -> None:
        self._record = record
        self._dialect = dialect

    @property
    def is_working(self) -> bool:
        """Whether the agent reports that it is working (version 2)."""
        return self._record.state.is_working

    @is_working.setter
    def is_working(self, value: bool) -> None:
        self._record.state.is_working = value

    def read_update(self, params: bytes) -> tuple[bool, Usage]:
        """Apply an update. Returns whether the record changed, and the usage that the update reports."""
        usage = Usage()
        kind = read_kind(params)
        if kind in _STATELESS:  # most updates
            return False, usage
        update = read_object(read_object(params).get("update", Raw(b"{}")))
        match kind:
            case "current_mode_update":
                return self.set_mode(update.get("currentModeId") or update.get("modeId")), usage
            case "config_option_update":
                return self.set_options(update.get("configOptions")), usage
            case "available_commands_update" if self._dialect.version == 2:
                return self._set_result(availableCommands=update.get("availableCommands")), usage
            case "session_info_update":
                if "title" in update:
                    self._record.title = read_text(update["title"])
                    return True, usage
            case "state_update":
                working = self._dialect.is_busy_after(update)
                if working is not None:
                    self.is_working = working
        return False, self._dialect.read_usage(update, kind)

    def read_response(self, method: str, params: bytes, result: bytes) -> bool:
        """Apply a successful request of a client. Returns whether the record changed."""
        if method == "session/set_mode":
            return self.set_mode(read_object(params).get("modeId"))
        if method == "session/set_config_option":
            return self.set_options(read_object(result).get("configOptions"))
        if method == "session/set_model":
            models = read_object(self._result().get("models", Raw(b"{}")))
            return self._set_result(
                models=Raw(write_object({**models, "currentModelId": _read_field(params, "modelId")}))
            )
        return False

    def describe_change(self, method: str) -> dict[str, Any] | None:
        """Return the update that informs other clients about the changes of a successful request."""
        result = self._result()
        if method == "session/set_mode":
            mode = read_object(result.get("modes", Raw(b"{}"))).get("currentModeId")
            return {"sessionUpdate": "current_mode_update", "currentModeId": mode}
        if method == "session/set_config_option":
            return {"sessionUpdate": "config_option_update", "configOptions": result.get("configOptions")}
        return None

    def read_usage(self, usage: Usage) -> tuple[int, float]:
        """Return the tokens and costs since the last report: tokens by turn, or else by the growth of the context."""
        tokens, cost, state = usage.turn_tokens or 0, 0.0, self._record.state
        if usage.turn_tokens is not None:
            state.has_turn_tokens = True
        elif usage.context_tokens is not None:
            if not state.has_turn_tokens:
                tokens = max(0, usage.context_tokens - state.context_tokens)
            state.context_tokens = usage.context_tokens
        if usage.session_cost is not None:
            cost = max(0.0, usage.session_cost - state.session_cost)
            state.session_cost = usage.session_cost
        return tokens, cost

    def set_mode(self, mode: Raw | None) -> bool:
        """Apply a change of the mode."""
        modes = self._result().get("modes")
        if mode is None or modes is None or decode(modes) is None:
            return False
        return self._set_result(modes=Raw(replace_fields(bytes(modes), currentModeId=mode)))

    def set_options(self, options: Raw | None) -> bool:
        """Apply a change of the options."""
        return False if options is None else self._set_result(configOptions=options)

    def _result(self) -> dict[str, Raw]:
        return read_object(self._record.result)

    def _set_result(self, **fields: Raw | None) -> bool:
        present = {name: value for name, value in fields.items() if value is not None}
        self._record.result = Raw(write_object({**self._result(), **present}))
        return bool(present)


def _read_field(params: bytes, name: str) -> Any:
    return read_object(params).get(name)
