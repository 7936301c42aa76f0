#pragma once

#include <cstddef>
#include <string>

#include "doctor/finding.hpp"

namespace skua::doctor {

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
