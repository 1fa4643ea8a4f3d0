"""A GGUF file with a few thousand random weights: its output makes no sense, but it loads like any other model."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

WIDTH, HEADS, INNER = 32, 2, 64
TOKENS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
KINDS = [2, 3, 3, 3, 3, *[6] * 256, 1]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write(path: Path) -> None:
    """Write the model file."""
    about: dict[str, Any] = {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.context_length": 4096,
        "llama.embedding_length": WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "llama.vocab_size": len(TOKENS),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.scores": [0.0] * len(TOKENS),
        "tokenizer.ggml.token_type": KINDS,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 4,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.chat_template": TEMPLATE,
    }
    square, vocabulary = (WIDTH, WIDTH), (WIDTH, len(TOKENS))
    tensors: dict[str, tuple[int, ...]] = {"token_embd": vocabulary, "output_norm": (WIDTH,), "output": vocabulary}
    tensors |= {f"blk.0.attn_{name}": square for name in ("q", "k", "v", "output")}
    tensors |= {"blk.0.ffn_gate": (WIDTH, INNER), "blk.0.ffn_up": (WIDTH, INNER), "blk.0.ffn_down": (INNER, WIDTH)}
    tensors |= {"blk.0.attn_norm": (WIDTH,), "blk.0.ffn_norm": (WIDTH,)}
    chance = random.Random(0)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(about))
    head += b"".join(_text(key) + _value(value) for key, value in about.items())
    data = b""
    for name, shape in tensors.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        numbers = [1.0] * count if len(shape) == 1 else [chance.gauss(0, 0.1) for _ in range(count)]
        head += _text(f"{name}.weight") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += _pad(struct.pack(f"<{count}f", *numbers))
    path.write_bytes(_pad(head) + data)


def _pad(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 32)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    match value:
        case str():
            return struct.pack("<I", 8) + _text(value)
        case float():
            return struct.pack("<If", 6, value)
        case int():
            return struct.pack("<II", 4, value)
        case [str(), *_]:
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
        case [float(), *_]:
            return struct.pack(f"<IIQ{len(value)}f", 9, 6, len(value), *value)
        case _:
            return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
