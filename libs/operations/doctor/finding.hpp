#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.hpp"

namespace skua::doctor {

enum class Level : std::uint8_t {
  /// Nothing must be done. With a problem: advice.
  Ok,
  /// The check was not made, or has no result. The detail has the reason.
  Skipped,
  /// Skua works, but something is wrong or will be.
  Warning,
  /// Skua does not work, or loses something, until it is corrected.
  Error,
};

/// The result of one check.
struct Finding {
  Level level = Level::Ok;
  /// The name of the check, in one or two words: `server`, `relay:relay.example`.
  std::string check;
  /// One of `kProblems`; null: none.
  const Problem* problem = nullptr;
  /// The measured values. They never contain a secret.
  std::string detail;
  /// A more precise cure than that of the problem; empty: the cure of the problem.
  std::string cure;
};

using Findings = std::vector<Finding>;

Finding ok(std::string check, std::string detail);
/// `why`: the reason, such as a missing right. `cure`: how to get the answer; empty: it is not
/// needed.
Finding skipped(std::string check, std::string why, std::string cure = {});
/// Nothing is wrong, but something can be improved.
Finding advice(std::string check, const Problem& problem, std::string detail,
               std::string cure = {});
Finding warning(std::string check, const Problem& problem, std::string detail,
                std::string cure = {});
Finding error(std::string check, const Problem& problem, std::string detail, std::string cure = {});

/// The cure of a finding, or of its problem; empty: nothing must be done.
std::string cure_of(const Finding& finding);

/// How many findings have a level.
std::size_t count_of(const Findings& findings, Level level);

/// Whether nothing is wrong; `strict`: a warning counts as wrong.
bool is_healthy(const Findings& findings, bool strict);

/// For people: a line for each finding, the cure below it if there is one, and a line with the
/// numbers of errors, warnings and skipped checks. `quiet`: without findings that are ok.
std::string report_text(const Findings& findings, bool quiet = false);

/// For scripts: a JSON object with `errors`, `warnings`, `skipped`, and `findings`, an array of
/// objects with `level`, `check`, `code`, `title`, `detail` and `cure`. Absent texts are null.
std::string report_json(const Findings& findings);

}  // namespace skua::doctor
