"""A model in a file: loaded in a process of its own, asked like a provider, gone when it is closed."""

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
from coder.models.asking import ended, failure, pieces, request, said, their_warnings

from accord.coder.models.base import Ended, SaidPiece
from accord.coder.models.choose import model as chosen
from accord.coder.models.local import LocalModel, why

STAND_IN = Path(__file__).parent / "stand_in"
HAS_IT = find_spec("xllamacpp") is not None

pytestmark = their_warnings


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both processes find the stand-in, installed or not."""
    monkeypatch.syspath_prepend(str(STAND_IN))
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))


@pytest.fixture
async def local(tmp_path: Path, stand_in: None) -> AsyncIterator[LocalModel]:
    (tmp_path / "good.gguf").write_bytes(b"GGUF and so on")
    model = LocalModel(str(tmp_path / "good.gguf"), context=4096, patience=60)
    yield model
    await model.close()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_it_is_asked_like_any_other_model(local: LocalModel) -> None:
    heard = await pieces(local, request(said("hello there")))
    assert [piece.text for piece in heard if isinstance(piece, SaidPiece)] == ["hello", "there"]
    last = heard[-1]
    assert isinstance(last, Ended)
    assert (last.reason, last.spent.input, last.spent.output) == ("end", 7, 2)


async def test_nothing_is_started_before_it_is_asked(local: LocalModel) -> None:
    assert local._child is None
    assert local.name == "good.gguf (local)"
    assert local.id.startswith("local:/")


async def test_one_process_serves_all_requests_and_ends_with_the_model(local: LocalModel) -> None:
    await ended(local)
    first = local._child
    await ended(local)
    assert first is not None
    assert local._child is first
    await local.close()
    assert not is_running(first.pid)


async def test_a_process_that_died_is_started_again_by_the_next_request(local: LocalModel) -> None:
    error = await failure(local, request(said("die")))
    assert error.retry
    assert "the process of good.gguf (local) ended with status 3" in str(error)
    assert (await ended(local, request(said("hello")))).message.text == "hello"


async def test_nobody_is_served_without_the_key(local: LocalModel) -> None:
    await ended(local)
    assert local._inner is not None
    with pytest.raises(HTTPError, match="401"):
        await asyncio.to_thread(urlopen, f"{local._inner._service.base_url}/models")


async def test_the_context_is_not_more_than_the_model_was_made_for(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "good.gguf").write_bytes(b"GGUF")
    model = LocalModel(str(tmp_path / "good.gguf"), context=100_000)
    await ended(model)
    assert model.context == 8192
    await model.close()


def test_the_context_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_LOCAL_CONTEXT", "2048")
    assert LocalModel("a.gguf").context == 2048
    monkeypatch.setenv("ACCORD_LOCAL_CONTEXT", "many")
    assert LocalModel("a.gguf").context == 32_000


async def test_a_file_that_cannot_be_loaded_says_why(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUFbroken")
    model = LocalModel(str(tmp_path / "bad.gguf"))
    error = await failure(model)
    assert str(error).endswith("could not be loaded by xllamacpp: gguf_init: no header; load: failed")
    assert error.kind == "model"
    assert model._child is None


async def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "slow.gguf").write_bytes(b"GGUFslow")
    model = LocalModel(str(tmp_path / "slow.gguf"), patience=0.5)
    assert "was not loaded within 0.5 s" in str(await failure(model))
    assert model._child is None


async def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install 'accord[local]'" in str(await failure(LocalModel("a.gguf")))


async def test_what_is_no_model_is_not_tried(tmp_path: Path, stand_in: None) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert "is no GGUF file" in str(await failure(LocalModel(str(tmp_path / "notes.txt"))))
    assert "No such file" in str(await failure(LocalModel(str(tmp_path / "none.gguf"))))
    assert "cannot be read" in str(await failure(LocalModel(str(tmp_path))))


def test_it_is_chosen_by_its_path() -> None:
    model = chosen("local:~/models/a.gguf")
    assert isinstance(model, LocalModel)
    assert model.path == os.path.expanduser("~/models/a.gguf")


def test_what_a_process_said_last_is_the_reason_when_it_complained_of_nothing() -> None:
    assert why("one\ntwo\nthree\n") == "two; three"
    assert why("") == "it said nothing"


@pytest.mark.skipif(not HAS_IT, reason="needs the extra: local")
async def test_a_real_file_is_loaded_and_speaks(tmp_path: Path) -> None:
    tiny_gguf.write(tmp_path / "tiny.gguf")
    model = LocalModel(str(tmp_path / "tiny.gguf"), context=100_000)
    try:
        last = await ended(model, request(said("hello"), max_tokens=8))
        assert model.context == 4096
        assert last.reason in ("length", "end")
        assert last.spent.input > 5
        stream = model.stream(request(said("hello"), max_tokens=100_000))
        await anext(stream)
        await stream.aclose()  # it can be asked again at once: the long answer was given up
        await ended(model, request(said("hello"), max_tokens=8))
        assert model._inner is not None
        with pytest.raises(HTTPError, match="401"):
            await asyncio.to_thread(urlopen, model._inner._service.base_url + "/completions", b"{}")
    finally:
        await model.close()


@pytest.mark.skipif(not HAS_IT, reason="needs the extra: local")
async def test_a_real_file_that_is_broken_ends_its_own_process_alone(tmp_path: Path) -> None:
    tiny_gguf.write(tmp_path / "tiny.gguf")
    whole = (tmp_path / "tiny.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    assert "could not be loaded" in str(await failure(LocalModel(str(tmp_path / "cut.gguf"))))
