"""The figures of a benchmark. A benchmark fails if one of them is missing."""

import math


class Report:
    """Checks the figures of a part of a benchmark. `expected`: the names of all figures that the part must print.

    with Report("relay", "ratio") as report:
        print(f"relay {report.figure('relay', rate, '8.0f')} events/s")

    At the end of the block each expected name must have had a figure. A figure may be printed several times.
    """

    def __init__(self, *expected):
        self.missing = dict.fromkeys(expected)
        self.printed = 0

    def figure(self, name, value, form, positive=True):
        """The text of a figure by a format specification. Ends the program if the value is not a finite number, or, if
        `positive` is set, if the printed number is not above zero."""
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise SystemExit(f"no figure '{name}': {value}")
        text = format(value, form)
        if positive and float(text) <= 0:
            raise SystemExit(f"no figure '{name}': {text.strip()}")
        self.missing.pop(name, None)
        self.printed += 1
        return text

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        if error is not None:
            return
        if self.missing:
            raise SystemExit("no figure " + ", ".join(f"'{name}'" for name in self.missing) + ": it was not printed")
        if not self.printed:
            raise SystemExit("no figures: none was printed")
