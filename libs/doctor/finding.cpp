#include "doctor/finding.hpp"

#include <utility>

namespace skua::doctor {

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

}  // namespace skua::doctor
