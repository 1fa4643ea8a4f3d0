"""Translate the history of a session into messages of pydantic-ai."""

from __future__ import annotations

import re
from binascii import Error as NoBase64
from binascii import a2b_base64
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from accord.coder.history import (
    Call,
    Message,
    ModelSaid,
    Part,
    Result,
    Summary,
    Text,
    Thought,
    ToolsSaid,
    UserSaid,
)
from accord.coder.models.families import family
from accord.model.content import Audio, Image, Resource, ResourceLink, TextContent

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart, UserContent

    from accord.coder.history import KnownContent
    from accord.coder.models.base import ToolSpec

_VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The names and ids of calls that every provider accepts."""
_MISTRAL = re.compile(r"(?:mi|code|dev|magi|mini)stral|mixtral|pixtral")
"""Models whose API and chat templates reject a prompt right after the result of a tool."""
BETWEEN = "Done."
"""The answer that is inserted between them."""
UNSEEN = "[an image ({kind}) that this model can't see]"


class MessageTranslator:
    """Translates histories for one provider."""

    def __init__(self, model: str, system: str, *, images: bool) -> None:
        vendor, slash, _ = model.partition("/")
        self._origin = vendor + slash if slash else f"{model.partition(':')[0]}:"
        """The start of the ids of models whose messages are sent back unchanged: `anthropic:`, `openrouter:openai/`."""
        self._family = family(model)
        self.system = system
        """The provider's name in its library."""
        self.images = images
        self._alternates = _MISTRAL.search(model.lower()) is not None
        self._has_short_ids = model.startswith("mistral:")
        self._call_ids: dict[str, str] = {}
        """The ids of other providers' calls, and their replacements for this one."""

    def translate(self, history: list[Message], instructions: str) -> list[ModelMessage]:
        """Translate a history. Adjacent messages of the same role are merged, because some providers require it."""
        from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart

        messages: list[ModelMessage] = []
        for message in _join_prompts(_since_the_summary(history)):
            if isinstance(message, ModelSaid):
                if said := self._response_parts(message):
                    messages.append(ModelResponse(parts=said, provider_name=self._name(message)))
                continue
            parts = self._request_parts(message)
            last = messages[-1] if messages else None
            if isinstance(last, ModelRequest) and self._alternates and isinstance(message, UserSaid):
                messages += [ModelResponse(parts=[TextPart(content=BETWEEN)]), ModelRequest(parts=parts)]
            elif isinstance(last, ModelRequest):
                last.parts = [*last.parts, *parts]
            else:
                messages.append(ModelRequest(parts=parts))
        for each in reversed(messages):
            if isinstance(each, ModelRequest):
                each.instructions = instructions or None
                break
        return messages

    def _request_parts(self, message: UserSaid | ToolsSaid) -> list[ModelRequestPart]:
        from pydantic_ai.messages import UserPromptPart

        if isinstance(message, ToolsSaid):
            return [self._result(each) for each in message.results]
        return [UserPromptPart(content=[piece for each in message.content for piece in self._content(each)])]

    def _content(self, piece: KnownContent) -> list[UserContent]:
        match piece:
            case TextContent(text=text):
                return [text]
            case Image():
                return [self._image(piece)]
            case Audio(mime_type=kind):
                return [f"[audio ({kind}) that this model can't hear]"]
            case ResourceLink(uri=uri):
                about = f": {piece.description}" if piece.description else ""
                return [f"[{piece.title or piece.name}]({uri}){about}"]
            case Resource(resource=resource):
                if resource.text is not None:
                    return [f'<resource uri="{resource.uri}">\n{resource.text}\n</resource>']
                kind = resource.mime_type or "application/octet-stream"
                if resource.blob is not None and kind.startswith("image/"):
                    return [f"{resource.uri}:", self._image(Image(data=resource.blob, mime_type=kind))]
                return [f"[{resource.uri}: a file of type {kind}, not shown]"]

    def _image(self, image: Image) -> Any:
        from pydantic_ai.messages import BinaryContent

        if not self.images:
            return UNSEEN.format(kind=image.mime_type)
        try:
            return BinaryContent(data=a2b_base64(image.data), media_type=image.mime_type)
        except NoBase64:
            return f"[an image ({image.mime_type}) with invalid data]"

    def _result(self, result: Result) -> ModelRequestPart:
        from pydantic_ai.messages import ToolReturnPart

        # Only these two have a field for errors. For the others, the library would wrap the text in JSON, and the model
        # would copy escaped characters from it.
        marks_errors = self.system in ("anthropic", "google")
        text = result.text if marks_errors or not result.failed else f"Error: {result.text}"
        content: Any = text
        if result.images:
            content = [text, *(self._image(each) for each in result.images)]
        return ToolReturnPart(
            tool_name=_valid_name(result.name),
            content=content,
            tool_call_id=self._call_ids.get(result.id, result.id),
            outcome="failed" if result.failed and marks_errors else "success",
        )

    def _response_parts(self, message: ModelSaid) -> list[ModelResponsePart]:
        own = self._is_own(message)
        return [translated for part in message.parts if (translated := self._part(part, own)) is not None]

    def _part(self, part: Part, own: bool) -> ModelResponsePart | None:
        from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

        extra = part.extra or {} if own else {}
        given: dict[str, Any] = {"id": extra.get("id"), "provider_details": extra.get("details")}
        if extra:
            given["provider_name"] = self.system
        match part:
            case Text(text=text):
                return TextPart(content=text, **given) if text or extra else None
            case Thought(text=text):
                # Without its signature, the provider would take a thought for a message.
                needs_signature = extra.get("id") == "content" or self.system == "anthropic"
                if not extra or (needs_signature and not extra.get("signature")):
                    return None
                return ThinkingPart(content=text, signature=extra.get("signature"), **given)
            case Call(id=id, name=name, arguments=arguments):
                if not own:
                    id = self._call_ids.setdefault(id, self._valid_id(id))
                args = extra.get("raw") or arguments
                return ToolCallPart(tool_name=_valid_name(name), args=args, tool_call_id=id, **given)

    def _valid_id(self, id: str) -> str:
        """Return an id in the form that the provider requires of one that another provider made."""
        digest = blake2b(id.encode(), digest_size=8).hexdigest()
        if self._has_short_ids:
            return digest[:9]
        return id if _VALID.fullmatch(id) else f"call_{digest}"

    def _is_own(self, message: ModelSaid) -> bool:
        """Return whether the message is from the same provider, and from the same vendor if it serves several: only
        that one can read its signatures."""
        return message.model.startswith(self._origin) and family(message.model) == self._family

    def _name(self, message: ModelSaid) -> str | None:
        return self.system if self._is_own(message) else None


def _valid_name(name: str) -> str:
    """Return the name of a tool without characters that providers reject: some models send `functions.read_file`."""
    return name if _VALID.fullmatch(name) else re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64].strip("_") or "tool"


def _since_the_summary(history: list[Message]) -> list[Message]:
    """Return the history from the last summary, which replaces everything before it."""
    for index in range(len(history) - 1, -1, -1):
        if isinstance(history[index], Summary):
            return history[index:]
    return history


def _join_prompts(history: list[Message]) -> list[ModelSaid | ToolsSaid | UserSaid]:
    """Join consecutive prompts, reminders and summaries into one prompt. A prompt without an answer is followed by
    another.

    The chat templates of some models accept no two user messages in a row."""
    joined: list[ModelSaid | ToolsSaid | UserSaid] = []
    for message in history:
        if isinstance(message, (ModelSaid, ToolsSaid)):
            joined.append(message)
            continue
        content: Sequence[KnownContent] = (
            message.content if isinstance(message, UserSaid) else [TextContent(message.render())]
        )
        last = joined[-1] if joined else None
        if isinstance(last, UserSaid):
            joined[-1] = UserSaid(content=[*last.content, *content])
        else:
            joined.append(UserSaid(content=[*content]))
    return joined


def definitions(tools: list[ToolSpec]) -> list[Any]:
    """Translate tool specifications; their schemas are sent unchanged."""
    from pydantic_ai.tools import ToolDefinition

    return [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=tool.parameters, strict=False
        )
        for tool in tools
    ]
