#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.hpp"

namespace skua::doctor {

enum class Level : std::uint8_t {
  /// Nothing must be done. If the finding has a problem, the problem is advice.
  Ok,
  /// The check was not made, or has no result. The detail states the reason.
  Skipped,
  /// Skua works, but something is wrong or will become wrong.
  Warning,
  /// Skua does not work, or loses data, until the cause is corrected.
  Error,
};

/// The result of one check.
struct Finding {
  Level level = Level::Ok;
  /// The name of the check, in one or two words: `server`, `relay:relay.example`.
  std::string check;
  /// One of `kProblems`; null if there is no problem.
  const Problem* problem = nullptr;
  /// The measured values, which never contain a secret.
  std::string detail;
  /// A more precise cure than that of the problem; if it is empty, the cure of the problem applies.
  std::string cure;
};

using Findings = std::vector<Finding>;

Finding ok(std::string check, std::string detail);
/// Makes a finding of a check that was not made. `why` is the reason, such as a missing right.
/// `cure` tells how to get a result; it is empty if no result is needed.
Finding skipped(std::string check, std::string why, std::string cure = {});
/// Makes a finding that something works but can be improved.
Finding advice(std::string check, const Problem& problem, std::string detail,
               std::string cure = {});
Finding warning(std::string check, const Problem& problem, std::string detail,
                std::string cure = {});
Finding error(std::string check, const Problem& problem, std::string detail, std::string cure = {});

/// Returns the cure of a finding or, without one, the cure of its problem; empty if nothing must be
/// done.
std::string cure_of(const Finding& finding);

/// Returns the number of findings of a level.
std::size_t count_of(const Findings& findings, Level level);

/// Returns whether nothing is wrong. If `strict` is set, a warning counts as wrong.
bool is_healthy(const Findings& findings, bool strict);

/// Returns a report for people: a line for each finding, with the cure below it if there is one,
/// and a line with the numbers of errors, warnings and skipped checks. If `quiet` is set, findings
/// with the level Ok are omitted.
std::string report_text(const Findings& findings, bool quiet = false);

/// Returns a report for scripts: a JSON object with `errors`, `warnings`, `skipped`, and
/// `findings`, an array of objects with `level`, `check`, `code`, `title`, `detail` and `cure`.
/// Absent texts are null.
std::string report_json(const Findings& findings);

}  // namespace skua::doctor
