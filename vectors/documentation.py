"""Short descriptions of functions of standard libraries and of operations of web services, from their sources."""

import ast
import json
import re
import warnings
from pathlib import Path

MIN_LENGTH = 15
MAX_LENGTH = 180

_RUST_FUNCTION = re.compile(
    r"((?:^[ \t]*///.*\n)+)(?:[ \t]*#\[.*\]\n)*[ \t]*pub (?:const |unsafe |async )*(?:fn|struct|enum|trait) (\w+)", re.M
)
_GO_FUNCTION = re.compile(r"((?:^//.*\n)+)func (?:\([^)]*\) )?([A-Z]\w*)", re.M)
_NO_LIBRARY = re.compile(r"/(tests?|testdata|benches|vendor|internal|stdarch|portable-simd|idlelib|lib2to3)/|_test\.go$")
_LINK = re.compile(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?")
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")


def words_of_name(name: str) -> str:
    """`readToString` and `read_to_string` as `read to string`."""
    return " ".join(word.lower() for word in _WORD_BOUNDARY.split(name) if word)


def first_sentence(text: str) -> str:
    """The first sentence of a description, without markup. Empty if it is too short or too long."""
    paragraph = re.split(r"\n\s*\n", text.strip())[0]
    paragraph = _LINK.sub(r"\1", re.sub(r"[`*]|<[^>]*>", "", paragraph))
    sentence = re.split(r"(?<=[.!?:;])\s", " ".join(paragraph.split()))[0].rstrip(".:;")
    is_usable = MIN_LENGTH <= len(sentence) <= MAX_LENGTH and "http" not in sentence
    return sentence if is_usable else ""


def as_request(sentence: str) -> str:
    """`Copies a file` as `copy a file`."""
    verb, _, rest = sentence.partition(" ")
    verb = verb.lower()
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", "")):
        if verb.endswith(ending) and not verb.endswith(("ss", "us", "is")):
            verb = verb.removesuffix(ending) + replacement
            break
    return f"{verb} {rest}".strip()


def functions(folder: Path, pattern: str):
    """The files of a library that match a pattern, as text."""
    for path in sorted(folder.glob(pattern)):
        if path.is_file() and not _NO_LIBRARY.search(str(path)):
            yield path.read_text(encoding="utf-8", errors="replace")


def rust_functions(packages: Path):
    for source in functions(packages / "rust-src", "usr/src/*/library/*/src/**/*.rs"):
        for comment, name in _RUST_FUNCTION.findall(source):
            text = "\n".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
            yield name, first_sentence(text)


def go_functions(packages: Path):
    for source in functions(packages / "golang-1.19-src", "usr/share/go-1.19/src/**/*.go"):
        for comment, name in _GO_FUNCTION.findall(source):
            text = "\n".join(line.removeprefix("//").strip() for line in comment.splitlines())
            beginning, _, rest = text.partition(" ")
            yield name, first_sentence(rest if beginning == name else text)


def python_functions(packages: Path):
    for package in ("libpython3.11-stdlib", "libpython3.11-minimal"):
        for source in functions(packages / package, "usr/lib/python3.11/**/*.py"):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(source)
            except SyntaxError:
                continue
            for node in ast.walk(tree):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                    yield node.name, first_sentence(ast.get_docstring(node) or "")


def google_operations(data: Path):
    def methods(resource: dict):
        yield from resource.get("methods", {}).values()
        for inner in resource.get("resources", {}).values():
            yield from methods(inner)

    for path in sorted((data / "google").glob("googleapiclient/discovery_cache/documents/*.json")):
        for method in methods(json.loads(path.read_text(encoding="utf-8"))):
            yield method["id"], first_sentence(method.get("description", ""))


def github_operations(data: Path):
    document = json.loads((data / "github" / "package" / "generated" / "api.github.com.json").read_text())
    for path in document["paths"].values():
        for operation in path.values():
            yield operation["operationId"], first_sentence(operation.get("summary", ""))
            yield operation["operationId"], first_sentence(operation.get("description", ""))


def documentation(data: Path):
    """The names and descriptions of all functions and operations, without repetitions."""
    packages = data / "packages"
    known = set()
    for source in (rust_functions, go_functions, python_functions):
        for name, sentence in source(packages):
            if sentence and sentence not in known:
                known.add(sentence)
                yield words_of_name(name), sentence
    for source in (google_operations, github_operations):
        for name, sentence in source(data):
            if sentence and sentence not in known:
                known.add(sentence)
                yield words_of_name(name), sentence
