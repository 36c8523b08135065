#!/usr/bin/env python3
"""Trains a vector for each stem, so that the sum of the vectors of a text points where the teacher's vector does.

  vectors/train.py DATA

Reads what corpus.py and teacher.py wrote to DATA, and writes `trained.npz`. Takes a few minutes on two cores.

A stem starts with the teacher's vector of the word alone, scaled down for frequent words. The loss has three
parts: the cosine to the teacher's vector of each text; the divergence from the teacher's similarities within a
batch; and a contrastive loss on pairs of texts with the same meaning. Requests and their descriptions count more
than their number: what a person says and what a tool does should meet. Stems that the texts hardly contain get
their vector by the linear map that fits the others.
"""

import argparse
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

# NumPy rounds differently with another number of threads, and reads the number when it is imported.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy
import torch
from torch.nn import functional

from text import stems

SEED = 19
DIMENSIONS = 256
RUNS = 3
EPOCHS = 6
BATCH = 1024
PAIR_BATCH = 768
LEARNING_RATE = 2e-3
TEMPERATURE = 0.05
SIMILARITY_WEIGHT = 1.0
PAIR_WEIGHT = 0.25
# How often an epoch has each text of `requests.txt`, and the share of its pairs in a batch of pairs.
REQUEST_REPETITIONS = 3
REQUEST_SHARE = 0.35
# Smooth inverse frequency: the share of all words at which a word's start vector is halved.
HALVING_SHARE = 1e-3
# A stem with fewer occurrences gets its vector by the linear map, which is fitted to stems with at least as many as
# the second number.
MIN_TRAINED_COUNT = 3
MIN_FITTED_COUNT = 15
RIDGE = 10.0


@dataclass
class Examples:
    """The numbers of the stems of each text."""

    bags: list

    def batch(self, numbers) -> tuple:
        """The stems of some texts in one tensor, and where each text begins in it."""
        bags = [self.bags[number] for number in numbers]
        offsets = numpy.cumsum([0, *map(len, bags)])
        return torch.from_numpy(numpy.concatenate(bags)), torch.from_numpy(offsets)


class Vectors(torch.nn.Module):
    def __init__(self, start: numpy.ndarray):
        super().__init__()
        weights = torch.tensor(start, dtype=torch.float32)
        self.table = torch.nn.EmbeddingBag.from_pretrained(
            weights, freeze=False, mode="sum", include_last_offset=True
        )

    def forward(self, batch: tuple) -> torch.Tensor:
        return functional.normalize(self.table(*batch), dim=1)


def normalised(rows: numpy.ndarray) -> numpy.ndarray:
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def similarity_loss(vectors: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """The divergence of the similarities within a batch from the teacher's."""
    own = torch.eye(len(vectors), dtype=torch.bool)
    logits = (vectors @ vectors.T / TEMPERATURE).masked_fill(own, -1e4)
    targets = (teacher @ teacher.T / TEMPERATURE).masked_fill(own, -1e4)
    return functional.kl_div(logits.log_softmax(1), targets.softmax(1), reduction="batchmean")


def pair_loss(left: torch.Tensor, right: torch.Tensor, keys: numpy.ndarray) -> torch.Tensor:
    """Each text should be closer to its partner than to the partners of others with another key."""
    same_key = torch.from_numpy((keys[:, None] == keys[None, :]) & ~numpy.eye(len(keys), dtype=bool))
    logits = (left @ right.T / TEMPERATURE).masked_fill(same_key, -1e4)
    own = torch.arange(len(keys))
    return 0.5 * (functional.cross_entropy(logits, own) + functional.cross_entropy(logits.T, own))


@dataclass
class Training:
    """What the vectors are trained on."""

    texts: Examples
    usable: numpy.ndarray
    """The numbers of the texts of an epoch."""
    targets: torch.Tensor
    teacher: torch.Tensor
    left: Examples
    right: Examples
    keys: numpy.ndarray
    other_pairs: int
    """How many pairs come before those of requests."""

    def run(self, start: numpy.ndarray, seed: int) -> numpy.ndarray:
        """Trains once. The seed decides which texts and pairs share a batch."""
        random_numbers = numpy.random.default_rng(seed)
        vectors = Vectors(start)
        optimizer = torch.optim.Adam(vectors.parameters(), lr=LEARNING_RATE)
        batches = len(self.usable) // BATCH
        of_requests = int(PAIR_BATCH * REQUEST_SHARE)
        begin = time.monotonic()
        for epoch in range(EPOCHS):
            order = random_numbers.permutation(self.usable)
            total = 0.0
            for number in range(batches):
                progress = (epoch * batches + number) / (EPOCHS * batches)
                optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - progress)
                chosen = order[number * BATCH:(number + 1) * BATCH]
                found = vectors(self.texts.batch(chosen))
                loss = (1 - (found * self.targets[chosen]).sum(1)).mean()
                loss = loss + SIMILARITY_WEIGHT * similarity_loss(found, self.teacher[chosen])
                chosen = numpy.concatenate([
                    random_numbers.integers(0, self.other_pairs, PAIR_BATCH - of_requests),
                    random_numbers.integers(self.other_pairs, len(self.keys), of_requests),
                ])
                left, right = (vectors(side.batch(chosen)) for side in (self.left, self.right))
                loss = loss + PAIR_WEIGHT * pair_loss(left, right, self.keys[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += float(loss.detach())
            print(f"epoch {epoch}: loss {total / batches:.4f}, {time.monotonic() - begin:.0f} s", flush=True)
        return vectors.table.weight.detach().numpy().astype(numpy.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    torch.set_num_threads(1)
    random_numbers = numpy.random.default_rng(SEED)
    vocabulary = json.loads((data / "vocabulary.json").read_text())
    number_of = {stem: number for number, stem in enumerate(vocabulary["stems"])}

    def bag(text: str) -> numpy.ndarray:
        return numpy.array([number_of[stem] for stem in stems(text) if stem in number_of], numpy.int64)

    def usable_pairs(pairs: list) -> list:
        found = [(bag(left), bag(right), key) for left, right, key in pairs]
        return [pair for pair in found if len(pair[0]) >= 2 and len(pair[1]) >= 1]

    all_texts = json.loads((data / "texts.json").read_text())
    requests = json.loads((data / "requests.json").read_text())
    texts = Examples([bag(text) for text in all_texts])
    request_texts = {text for request, description, _ in requests for text in (request, description)}
    repetitions = [REQUEST_REPETITIONS if text in request_texts else 1 for text in all_texts]
    usable = [number for number, bag in enumerate(texts.bags) if len(bag) >= 2]
    pairs = usable_pairs(json.loads((data / "pairs.json").read_text()))
    other_pairs = len(pairs)
    pairs += usable_pairs(requests)
    key_numbers = {key: number for number, key in enumerate(sorted({pair[2] for pair in pairs}))}

    teacher = numpy.load(data / "text_vectors.npy").astype(numpy.float32)
    teacher -= teacher.mean(0)
    sample = teacher[random_numbers.permutation(len(teacher))[:20_000]]
    directions = numpy.linalg.svd(sample, full_matrices=False)[2][:DIMENSIONS].T
    words = numpy.load(data / "word_vectors.npy").astype(numpy.float32)
    words = (words - words.mean(0)) @ directions
    counts = numpy.array(vocabulary["counts"], numpy.float64)
    shares = numpy.maximum(counts, 1) / counts.sum()
    start = words * (HALVING_SHARE / (HALVING_SHARE + shares))[:, None]

    training = Training(
        texts=texts,
        usable=numpy.repeat(usable, [repetitions[number] for number in usable]),
        targets=torch.from_numpy(normalised(teacher @ directions)),
        teacher=torch.from_numpy(normalised(teacher)),
        left=Examples([pair[0] for pair in pairs]),
        right=Examples([pair[1] for pair in pairs]),
        keys=numpy.array([key_numbers[pair[2]] for pair in pairs]),
        other_pairs=other_pairs,
    )
    # The mean of several runs is better than one: what depends on chance cancels out.
    trained = numpy.mean([training.run(start, SEED + number) for number in range(RUNS)], axis=0)
    words = words.astype(numpy.float64)
    fitted = words[counts >= MIN_FITTED_COUNT]
    linear_map = numpy.linalg.solve(
        fitted.T @ fitted + RIDGE * numpy.eye(DIMENSIONS), fitted.T @ trained[counts >= MIN_FITTED_COUNT]
    )
    rare = counts < MIN_TRAINED_COUNT
    trained[rare] = words[rare] @ linear_map
    numpy.savez(data / "trained.npz", vectors=trained.astype(numpy.float32))


if __name__ == "__main__":
    main()
