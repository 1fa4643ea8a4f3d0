"""A model in a file: loaded in a separate process, used like a provider, gone when it's closed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from coder.models import tiny_gguf
from coder.models.provider_client import read_end, read_error, read_pieces, request, their_warnings, user_message
from support.prerequisites import needs

from accord.coder.models.base import Ended, SaidPiece
from accord.coder.models.catalog import model as chosen
from accord.coder.models.local import LocalModel, find_cause

STAND_IN = Path(__file__).parent / "stand_in"
MISSING = None if find_spec("xllamacpp") else "the extra `local` (xllamacpp) is not installed"

pytestmark = their_warnings


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make both processes use the stand-in, whether or not the real package is installed."""
    monkeypatch.syspath_prepend(str(STAND_IN))
    monkeypatch.chdir(tmp_path)  # modules that lie in the working directory are not imported
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))


@pytest.fixture
async def local(tmp_path: Path, stand_in: None) -> AsyncIterator[LocalModel]:
    (tmp_path / "good.gguf").write_bytes(b"GGUF and so on")
    model = LocalModel(str(tmp_path / "good.gguf"), context=4096, timeout=60)
    yield model
    await model.close()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_it_is_used_like_any_other_model(local: LocalModel) -> None:
    heard = await read_pieces(local, request(user_message("hello there")))
    assert [piece.text for piece in heard if isinstance(piece, SaidPiece)] == ["hello", "there"]
    last = heard[-1]
    assert isinstance(last, Ended)
    assert (last.reason, last.spent.input, last.spent.output) == ("end", 7, 2)


async def test_the_process_starts_with_the_first_request(local: LocalModel) -> None:
    assert local._child is None
    assert local.name == "good.gguf (local)"
    assert local.id.startswith("local:/")


async def test_one_process_serves_all_requests_and_ends_with_the_model(local: LocalModel) -> None:
    await read_end(local)
    first = local._child
    await read_end(local)
    assert first is not None
    assert local._child is first
    await local.close()
    assert not is_running(first.pid)


async def test_a_process_that_died_is_started_again_by_the_next_request(local: LocalModel) -> None:
    error = await read_error(local, request(user_message("die")))
    assert error.retry
    assert "the process of good.gguf (local) exited with status 3" in str(error)
    assert (await read_end(local, request(user_message("hello")))).message.text == "hello"


async def test_requests_without_the_key_are_rejected(local: LocalModel) -> None:
    await read_end(local)
    assert local._inner is not None
    with pytest.raises(HTTPError, match="401") as refused:
        await asyncio.to_thread(urlopen, f"{local._inner._provider.base_url}/models")
    refused.value.close()


async def test_the_context_does_not_exceed_that_of_the_model(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "good.gguf").write_bytes(b"GGUF")
    model = LocalModel(str(tmp_path / "good.gguf"), context=100_000)
    await read_end(model)
    assert model.context == 8192
    await model.close()


def test_the_context_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_LOCAL_CONTEXT", "2048")
    assert LocalModel("a.gguf").context == 2048
    monkeypatch.setenv("ACCORD_LOCAL_CONTEXT", "many")
    assert LocalModel("a.gguf").context == 32_000


async def test_the_error_for_a_file_that_cannot_be_loaded_names_the_cause(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUFbroken")
    model = LocalModel(str(tmp_path / "bad.gguf"))
    error = await read_error(model)
    assert str(error).endswith(": gguf_init: no header; load: failed")
    assert error.kind == "model"
    assert model._child is None


async def test_a_file_that_takes_too_long_to_load_is_an_error(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "slow.gguf").write_bytes(b"GGUFslow")
    model = LocalModel(str(tmp_path / "slow.gguf"), timeout=0.5)
    assert "took longer than 0.5 s" in str(await read_error(model))
    assert model._child is None


async def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install 'accord-acp[local]'" in str(await read_error(LocalModel("a.gguf")))


async def test_a_file_that_isnt_a_model_is_rejected(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert "isn't a GGUF file" in str(await read_error(LocalModel(str(tmp_path / "notes.txt"))))
    assert "No such file" in str(await read_error(LocalModel(str(tmp_path / "none.gguf"))))
    assert "Couldn't read" in str(await read_error(LocalModel(str(tmp_path))))


def test_it_is_chosen_by_its_path() -> None:
    model = chosen("local:~/models/a.gguf")
    assert isinstance(model, LocalModel)
    assert model.path == os.path.expanduser("~/models/a.gguf")


def test_the_cause_is_the_last_output_if_there_is_no_error_message() -> None:
    assert find_cause("one\ntwo\nthree\n") == "two; three"
    assert find_cause("") == "no error message"


@needs(MISSING)
async def test_a_real_file_is_loaded_and_answers(tmp_path: Path) -> None:
    tiny_gguf.write(tmp_path / "tiny.gguf")
    model = LocalModel(str(tmp_path / "tiny.gguf"), context=100_000)
    try:
        last = await read_end(model, request(user_message("hello"), max_tokens=8))
        assert model.context == 4096
        assert last.reason in ("length", "end")
        assert last.spent.input > 5
        stream = model.stream(request(user_message("hello"), max_tokens=100_000))
        await anext(stream)
        await stream.aclose()  # it can be used again at once: the long answer was cancelled
        await read_end(model, request(user_message("hello"), max_tokens=8))
        assert model._inner is not None
        with pytest.raises(HTTPError, match="401") as refused:
            await asyncio.to_thread(urlopen, model._inner._provider.base_url + "/completions", b"{}")
        refused.value.close()
    finally:
        await model.close()


@needs(MISSING)
async def test_a_real_file_that_is_broken_ends_only_its_own_process(tmp_path: Path) -> None:
    tiny_gguf.write(tmp_path / "tiny.gguf")
    whole = (tmp_path / "tiny.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    assert "couldn't load" in str(await read_error(LocalModel(str(tmp_path / "cut.gguf"))))
