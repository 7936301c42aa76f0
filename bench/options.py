"""The option --quick of all benchmarks."""

import argparse


def parser_of(help_text):
    """A parser whose help is the text of a benchmark."""
    parser = argparse.ArgumentParser(description=help_text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see bench/README.md")
    return parser


def parse(parser, **quick):
    """Parses the command line. With --quick these values replace the defaults of options; given options still count."""
    if parser.parse_known_args()[0].quick:
        parser.set_defaults(**quick)
    return parser.parse_args()
