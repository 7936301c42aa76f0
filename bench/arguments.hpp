#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace skua::bench {

/// The command line of a benchmark: [--quick] [VALUE].
struct Arguments {
  bool quick = false;
  std::string value;  // empty: not given

  /// Prints `help` and ends the program if --help is given (exit code 0) or an argument is unknown
  /// (2).
  static Arguments parse(int argc, char** argv, std::string_view help) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      if (argument == "--quick") {
        arguments.quick = true;
      } else if (argument == "--help" || argument == "-h") {
        fmt::print("{}\n", help);
        std::exit(0);
      } else if (argument.starts_with('-') || !arguments.value.empty()) {
        fmt::print(stderr, "unknown argument {}\n{}\n", argument, help);
        std::exit(2);
      } else {
        arguments.value = argument;
      }
    }
    return arguments;
  }

  /// The value as a number; if it is not given, `full`, or with --quick `small`.
  std::size_t number(std::size_t full, std::size_t small) const {
    if (value.empty()) return quick ? small : full;
    return std::strtoul(value.c_str(), nullptr, 10);
  }
};

}  // namespace skua::bench
