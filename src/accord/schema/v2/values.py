"""Plain values: paths, URIs, base64, timestamps."""

from __future__ import annotations

from typing import Annotated

import msgspec

AbsolutePath = str
"""An absolute path, in the syntax of the machine that the agent runs on; never a URI."""

MediaType = str
"""A MIME type, such as `text/plain`."""

SessionListCursor = str
"""The position of the next page. Opaque to clients, and possibly empty."""

# Some agents send bare paths here, so the format is documented, not enforced.
Uri = Annotated[str, msgspec.Meta(extra_json_schema={"format": "uri"})]
"""An absolute URI."""

Base64 = Annotated[str, msgspec.Meta(extra_json_schema={"contentEncoding": "base64"})]
"""Bytes, as base64 text."""

Pattern = Annotated[str, msgspec.Meta(extra_json_schema={"format": "regex"})]
"""A regular expression, in the dialect of ECMA-262."""

Moment = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]+)?"
        r"([Zz]|[+-][0-2][0-9]:[0-5][0-9])\Z",
        extra_json_schema={"format": "date-time"},
    ),
]
"""A time in the format of RFC 3339, including the offset."""
