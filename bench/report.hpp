#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace skua::bench {

/// The figures of a benchmark, which fails if one of them is missing. bench/report.py does the same
/// for the benchmarks in Python. One thread.
class Report {
 public:
  /// `expected`: the names of all figures that the benchmark must print.
  Report(std::initializer_list<std::string> expected) : missing_(expected) {}

  /// The text of a figure with so many decimals. A value that is not finite or is printed as zero
  /// or less is an error, which is printed to stderr.
  std::string figure(const std::string& name, double value, int decimals = 0) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    missing_.erase(name);
    if (!std::isfinite(value) || std::strtod(text.c_str(), nullptr) <= 0) fail(name, text);
    return text;
  }

  /// An error that is not about a figure, printed to stderr.
  void fail(std::string_view message) {
    failed_ = true;
    fmt::print(stderr, "{}\n", message);
  }

  /// To be called at the end. Returns the exit code: 1 if there was an error or an expected figure
  /// was not printed.
  int finish() {
    for (const std::string& name : missing_) fail(name, "it was not printed");
    return failed_ ? 1 : 0;
  }

 private:
  void fail(std::string_view name, std::string_view why) {
    fail(fmt::format("no figure '{}': {}", name, why));
  }

  std::set<std::string> missing_;
  bool failed_ = false;
};

}  // namespace skua::bench
