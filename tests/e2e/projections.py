"""The projections of a database: adds them, brings them up to date, and verifies them with `skua consumers`."""

import os
import pathlib
import subprocess

from harness import BIN

FILES = pathlib.Path(__file__).resolve().parents[2] / "libs/feeds/consumers/projections"
NAMES = sorted(file.stem for file in FILES.glob("*.sql") if file.read_text().startswith("-- projection: "))


def _skua(url, *arguments):
    done = subprocess.run([BIN / "skua", "consumers", *arguments], env={**os.environ, "SKUA_DATABASE_URL": url},
                          check=False, capture_output=True, text=True)
    return done.returncode, done.stdout.strip() or done.stderr.strip()


def add(url, *options):
    """Adds all projections to a migrated database."""
    for name in NAMES:
        code, text = _skua(url, "add", name, *options)
        assert code == 0, text


def differences(url):
    """Builds the projections that are not built, applies all changes, and compares the tables with the records."""
    code, text = _skua(url, "run-until-idle")
    if code != 0:
        return [f"run-until-idle: {text}"]
    results = [(name, *_skua(url, "verify", name)) for name in NAMES]
    return [f"{name}: {text}" for name, code, text in results if code != 0]

