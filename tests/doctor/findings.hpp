#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.hpp"

namespace skua::doctor::test {

/// A finding in short: `warning disk-low`, `ok`, `skipped`, for advice `ok server-settings`.
inline std::string brief(const Finding& finding) {
  std::string text = finding.level == Level::Error     ? "error"
                     : finding.level == Level::Warning ? "warning"
                     : finding.level == Level::Skipped ? "skipped"
                                                       : "ok";
  if (finding.problem != nullptr) text += " " + std::string(finding.problem->code);
  return text;
}

inline std::vector<std::string> briefs(const Findings& findings) {
  std::vector<std::string> all;
  for (const Finding& finding : findings) all.push_back(brief(finding));
  return all;
}

}  // namespace skua::doctor::test
