"""The client's files, served to the agent."""

from __future__ import annotations

from accord.schema.common.ids import SessionId
from accord.schema.common.numbers import Uint32
from accord.schema.shape import UNSET, Message, Opt, Strict


class FileSystemCapabilities(Message):
    """The client's capabilities for reading and writing files."""

    read_text_file: bool = False
    write_text_file: bool = False


class ReadTextFileRequest(Message):
    """Requests the text of a file, including unsaved changes, or `limit` lines of it starting at `line`."""

    session_id: SessionId
    path: str
    line: Strict[Opt[Uint32]] = UNSET
    limit: Strict[Opt[Uint32]] = UNSET


class ReadTextFileResponse(Message):
    """The requested text."""

    content: str


class WriteTextFileRequest(Message):
    """Asks the client to write a whole file."""

    session_id: SessionId
    path: str
    content: str


class WriteTextFileResponse(Message):
    """The file has been written."""
