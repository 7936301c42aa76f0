#include "doctor/finding.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace skua::doctor {

namespace {

/// The maximum length of a detail. Error texts of servers may be long, and the network determines
/// some of them.
constexpr std::size_t kLongestDetail = 1000;

std::string_view level_name(Level level) {
  switch (level) {
    case Level::Ok:
      return "ok";
    case Level::Skipped:
      return "skipped";
    case Level::Warning:
      return "warning";
    case Level::Error:
      break;
  }
  return "error";
}

std::string shown(const Finding& finding) {
  std::string detail = printable(finding.detail, kLongestDetail);
  return finding.problem == nullptr ? detail : with_code(detail, *finding.problem);
}

nlohmann::json text_or_null(std::string_view text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

}  // namespace

Finding ok(std::string check, std::string detail) {
  return {Level::Ok, std::move(check), nullptr, std::move(detail), {}};
}

Finding skipped(std::string check, std::string why, std::string cure) {
  return {Level::Skipped, std::move(check), nullptr, std::move(why), std::move(cure)};
}

Finding advice(std::string check, const Problem& problem, std::string detail, std::string cure) {
  return {Level::Ok, std::move(check), &problem, std::move(detail), std::move(cure)};
}

Finding warning(std::string check, const Problem& problem, std::string detail, std::string cure) {
  return {Level::Warning, std::move(check), &problem, std::move(detail), std::move(cure)};
}

Finding error(std::string check, const Problem& problem, std::string detail, std::string cure) {
  return {Level::Error, std::move(check), &problem, std::move(detail), std::move(cure)};
}

std::string cure_of(const Finding& finding) {
  if (!finding.cure.empty() || finding.problem == nullptr) return finding.cure;
  return std::string(finding.problem->cure);
}

std::size_t count_of(const Findings& findings, Level level) {
  return static_cast<std::size_t>(std::ranges::count(findings, level, &Finding::level));
}

bool is_healthy(const Findings& findings, bool strict) {
  return std::ranges::none_of(findings, [strict](const Finding& finding) {
    return finding.level == Level::Error || (strict && finding.level == Level::Warning);
  });
}

std::string report_text(const Findings& findings, bool quiet) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.check.size());
  std::string text;
  for (const Finding& finding : findings) {
    if (quiet && finding.level == Level::Ok) continue;
    text += fmt::format("{:<8} {:<{}}  {}\n", level_name(finding.level), finding.check, width,
                        shown(finding));
    if (const std::string cure = cure_of(finding); !cure.empty()) {
      text += fmt::format("{:<9}{}\n", "", cure);
    }
  }
  const auto counted_of = [&](Level level, std::string_view noun) {
    return counted(static_cast<std::int64_t>(count_of(findings, level)), noun);
  };
  text += fmt::format("\n{}, {}", counted_of(Level::Error, "error"),
                      counted_of(Level::Warning, "warning"));
  if (count_of(findings, Level::Skipped) > 0) {
    text += ", " + counted_of(Level::Skipped, "check") + " skipped";
  }
  return text + "\n";
}

std::string report_json(const Findings& findings) {
  nlohmann::json all = nlohmann::json::array();
  for (const Finding& finding : findings) {
    const Problem* const problem = finding.problem;
    all.push_back({{"level", level_name(finding.level)},
                   {"check", finding.check},
                   {"code", text_or_null(problem == nullptr ? "" : problem->code)},
                   {"title", text_or_null(problem == nullptr ? "" : problem->title)},
                   {"detail", printable(finding.detail, kLongestDetail)},
                   {"cure", text_or_null(cure_of(finding))}});
  }
  const nlohmann::json report = {{"errors", count_of(findings, Level::Error)},
                                 {"warnings", count_of(findings, Level::Warning)},
                                 {"skipped", count_of(findings, Level::Skipped)},
                                 {"findings", std::move(all)}};
  return report.dump(2) + "\n";
}

}  // namespace skua::doctor
