#!/usr/bin/env python3
"""Packs the trained vectors into `words.bin`, which the server embeds, and writes its checksum.

  vectors/pack.py DATA [OUTPUT]

`crates/discovery/src/meaning/table.rs` describes the format.
"""

import argparse
import hashlib
import json
import struct
from pathlib import Path

import numpy

from text import MAX_WORD_LENGTH

MAGIC = b"CLXVEC1\0"
# Values are clipped at this many standard deviations of their row.
CLIP = 2.9
MAX_LEVEL = 7
MAX_STEP = 65_535
BLOCK_BYTES = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path, nargs="?", default=Path(__file__).parent / "words.bin")
    options = parser.parse_args()
    vocabulary = json.loads((options.data / "vocabulary.json").read_text())
    vectors = numpy.load(options.data / "trained.npz")["vectors"].astype(numpy.float64)
    rows = [
        (stem.encode(), number, everyday)
        for number, (stem, everyday) in enumerate(zip(vocabulary["stems"], vocabulary["everyday"]))
        if 0 < len(stem.encode()) <= MAX_WORD_LENGTH
    ]
    rows.sort(key=lambda row: (len(row[0]), row[0]))
    vectors = vectors[[number for _, number, _ in rows]]
    # The most significant dimensions first.
    vectors = vectors @ numpy.linalg.svd(vectors, full_matrices=False)[2].T
    steps = CLIP * numpy.sqrt((vectors**2).mean(1)) / MAX_LEVEL
    unit = steps.max() / MAX_STEP
    whole_steps = numpy.maximum(numpy.round(steps / unit), 1)
    levels = numpy.round(vectors / (whole_steps * unit)[:, None]).clip(-MAX_LEVEL, MAX_LEVEL).astype(int)
    lengths = numpy.sqrt((levels**2).sum(1)) * whole_steps
    # A block of 64 dimensions takes 32 bytes: the first half of them in the low bits, the second in the high bits.
    blocks = (levels + 8).reshape(len(levels), -1, 2, BLOCK_BYTES)
    packed = (blocks[:, :, 0] | blocks[:, :, 1] << 4).reshape(len(levels), -1)
    counts = [sum(len(stem) == length for stem, _, _ in rows) for length in range(1, MAX_WORD_LENGTH + 1)]
    everyday = numpy.packbits([is_everyday for _, _, is_everyday in rows], bitorder="little")
    content = b"".join((
        MAGIC,
        struct.pack("<II", vectors.shape[1], int(numpy.median(lengths))),
        struct.pack(f"<{MAX_WORD_LENGTH}I", *counts),
        b"".join(stem for stem, _, _ in rows),
        whole_steps.astype("<u2").tobytes(),
        everyday.tobytes(),
        packed.astype("u1").tobytes(),
    ))
    options.output.write_bytes(content)
    checksum = hashlib.sha256(content).hexdigest()
    options.output.with_suffix(".sha256").write_text(f"{checksum}  {options.output.name}\n")
    print(len(rows), "stems,", len(content), "bytes")


if __name__ == "__main__":
    main()
