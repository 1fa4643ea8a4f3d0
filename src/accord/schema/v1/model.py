"""Choosing a model, as early agents offer it. Later ones have a config option of the category `model` instead."""

from __future__ import annotations

from accord.schema.common.ids import SessionId
from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt

ModelId = str


class ModelInfo(Message):
    """One model to choose."""

    model_id: ModelId
    name: str
    description: Opt[str] = UNSET


class SessionModelState(Message):
    """Lists the models of a session and names the one in use."""

    current_model_id: ModelId
    available_models: Emptied[Filtered[ModelInfo]]


class SetSessionModelRequest(Message):
    """Puts a session onto another model."""

    session_id: SessionId
    model_id: ModelId


class SetSessionModelResponse(Message):
    """The model is set."""
