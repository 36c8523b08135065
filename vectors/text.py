"""Turns text into words and stems, as `crates/discovery/src/tokens.rs` does."""

import re
import unicodedata
from functools import lru_cache

import Stemmer

# Longer words are values, not words of a language. `crates/discovery/src/meaning` has the same limit.
MAX_WORD_LENGTH = 24

_RUN = re.compile(r"[^\W_]+")
_CONTRACTION = re.compile(r"['\u2019](?:s|m|t|re|ve|ll|d)(?![^\W_])", re.I)
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STEMMER = Stemmer.Stemmer("english")


def fold(text: str) -> str:
    """Lower case without accents."""
    text = text.lower()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def words(text: str) -> list:
    """The folded words of a text. camelCase yields its parts and the whole."""
    found = []
    position = 0
    while run := _RUN.search(text, position):
        position = run.end()
        if contraction := _CONTRACTION.match(text, position):
            position = contraction.end()
        parts = _CAMEL_CASE.split(run[0])
        found.extend(fold(part) for part in parts)
        if len(parts) > 1:
            found.append(fold(run[0]))
    return [word for word in found if 0 < len(word) <= MAX_WORD_LENGTH]


@lru_cache(maxsize=None)
def stem(word: str) -> str:
    return _STEMMER.stemWord(word)


def stems(text: str) -> list:
    return [stem(word) for word in words(text)]
