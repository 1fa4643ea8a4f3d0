"""Where our types differ from the published ones on purpose, and why."""

from __future__ import annotations

# A published type that is a part of several variants here, each with a class of its own.
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
UNTAGGED: dict[int, dict[str, str]] = {1: {"ToolCallUpdate": "ToolCallPatch"}, 2: {"ToolCallUpdate": "ToolCallPatch"}}

# A published union that is one class here, with the fields of all its variants.
FLATTENED: dict[int, dict[str, str]] = {1: {}, 2: {"StateUpdate": "StateSnapshot"}}

_MODELS = "model selection as early agents have it (D-13)"

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
    "v1 StringPropertySchema.format: is null | open": "an unknown format is a hint that does no harm (D-65)",
    "v1 ToolCall.kind: defaults to": "the specification's text gives the default",
    "v1 ToolCall.status: defaults to": "the specification's text gives the default",
}
