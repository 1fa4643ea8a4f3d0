"""Model selection of early agents. Later ones have a config option of the category `model` instead."""

from __future__ import annotations

from accord.schema.common.ids import SessionId
from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt

ModelId = str


class ModelInfo(Message):
    """A model that can be selected."""

    model_id: ModelId
    name: str
    description: Opt[str] = UNSET


class SessionModelState(Message):
    """The available models of a session, and the current one."""

    current_model_id: ModelId
    available_models: Emptied[Filtered[ModelInfo]]


class SetSessionModelRequest(Message):
    """Changes the model of a session."""

    session_id: SessionId
    model_id: ModelId


class SetSessionModelResponse(Message):
    """The model has been changed."""
