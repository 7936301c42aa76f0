"""The command line and the self-test that the checks of the source text share (check_layers, check_terms, check_prose)."""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def self_test(violations, files, cases):
    """Runs `violations(root)` for each case in a new folder that has `files` (path -> text) and the file of the case.

    A case is (path, text, expected): for each violation, in order, a part of its line. Returns the cases that fail.
    """
    failures = []
    for path, text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in {**files, path: text}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            found = list(violations(root))
        if len(found) != len(expected) or any(part not in line for part, line in zip(expected, found)):
            failures.append(f"{path}: expected {expected}, found {found}")
    return failures


def main(help_text, summary, violations, files, cases):
    """The main function of a check: [--help | --self-test | ROOT]. `summary`: what the violations are, after their number."""
    name = pathlib.Path(sys.argv[0]).name
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help"):
        print(help_text.strip())
        return 0
    if arguments == ["--self-test"]:
        failures = self_test(violations, files, cases)
        print("\n".join(failures) if failures else f"{name}: {len(cases)} planted cases judged right")
        return 1 if failures else 0
    found = list(violations(pathlib.Path(arguments[0]) if arguments else ROOT))
    for line in found:
        print(line, file=sys.stderr)
    if found:
        print(f"{name}: {len(found)} {summary}", file=sys.stderr)
    return 1 if found else 0
