"""Deliberate differences between our types and the published ones, and their reasons."""

from __future__ import annotations

# A published type that is a part of several variants here, each with its own class.
_CHUNKS = ("UserMessageChunk", "AgentMessageChunk", "AgentThoughtChunk")
RENAMED: dict[int, dict[str, tuple[str, ...]]] = {
    1: {"ContentChunk": _CHUNKS},
    2: {
        "ContentChunk": _CHUNKS,
        "DiffPathChange": ("DiffAdd", "DiffDelete", "DiffModify"),
        "DiffPathPairChange": ("DiffMove", "DiffCopy"),
    },
}

# A published type that is both a tagged variant and the type of a field: our class for the second.
UNTAGGED: dict[int, dict[str, str]] = {
    1: {"ToolCallUpdate": "ToolCallPatch"},
    2: {"ToolCallUpdate": "ToolCallPatch", "StateUpdate": "StateSnapshot"},
}

_MODELS = "model selection as early agents have it (D-13)"


def _open(name: str, words: str) -> str:
    return f"v1 {name}: is open word({words}); the schema says word({words})"


# The beginning of a line of the report → why it is so.
DIFFERENT: dict[str, str] = {
    "v1 ForkSessionResponse.models: not in the schema": _MODELS,
    "v1 LoadSessionResponse.models: not in the schema": _MODELS,
    "v1 NewSessionResponse.models: not in the schema": _MODELS,
    "v1 ResumeSessionResponse.models: not in the schema": _MODELS,
    "v1 ModelInfo: not in the schema": _MODELS,
    "v1 SessionModelState: not in the schema": _MODELS,
    "v1 SetSessionModelRequest: not in the schema": _MODELS,
    "v1 SetSessionModelResponse: not in the schema": _MODELS,
    "v1 session/set_model (request): not in the schema": _MODELS,
    "v1 ResourceLink.size: is int(0..": "a negative size says nothing and counts as absent (D-60)",
    "v1 SessionUpdate: is open": "an unknown update is kept for whoever asks (L-08)",
    "v1 ContentBlock: is open": "content of an unknown type is kept for the user (L-08)",
    # Up to the end of the line, so that a new word of the schema shows.
    _open("PermissionOptionKind", "allow_always, allow_once, reject_always, reject_once"): (
        "an option of an unknown kind does not cost the user the whole question (L-08)"
    ),
    _open("StopReason", "cancelled, end_turn, max_tokens, max_turn_requests, refusal"): (
        "a turn that ended for an unknown reason has ended all the same (L-08)"
    ),
    "v1 StringPropertySchema.format: is null | open": "an unknown format is a hint that does no harm (D-65)",
    "v1 ToolCall.kind: defaults to": "the specification's text gives the default",
    "v1 ToolCall.status: defaults to": "the specification's text gives the default",
}
