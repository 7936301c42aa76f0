"""A program whose time of day is wrong or jumps: libfaketime shifts it, but not the steady clock."""

import os
import pathlib

from harness import missing


def faketime():
    """The library that shifts a program's time of day."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        missing("libfaketime (apt-get install faketime)", "SKUA_REQUIRE_FAKETIME")
    return found[0]


def set_shift(file, by):
    fresh = file.with_suffix(".new")
    fresh.write_text(by + "\n")
    os.replace(fresh, file)


def shifted_environment(file, by):
    """The environment of a program whose clock is wrong by the content of a file, initially by the given offset
    (`-10m`)."""
    set_shift(file, by)
    return {"LD_PRELOAD": str(faketime()), "FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
