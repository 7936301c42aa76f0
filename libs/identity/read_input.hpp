#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/machine_error.hpp"
#include "identity/errc.hpp"

namespace skua::identity {

/// Reads an answer of the network about an account by calling `work`. An unexpected exception makes
/// the answer unusable (errc::unforeseen) and must not end the thread that reads all answers.
/// Errors of the machine (is_of_machine) pass on. `Outcome` can be made from an errc.
template <class Outcome, class Work>
Outcome read_input(std::string_view did, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception& error) {
    if (is_of_machine(error)) throw;
    logger("identity")
        ->error("did={}: an answer about it cannot be processed: {}", did, error.what());
    return Outcome{errc::unforeseen};
  }
}

/// A text member of an object; empty when `value` is not an object, or the member is missing or
/// not a text. The result refers to `value`.
inline std::string_view text_field(const nlohmann::json& value, const char* name) {
  if (!value.is_object()) return {};
  const auto member = value.find(name);
  if (member == value.end() || !member->is_string()) return {};
  return member->get_ref<const std::string&>();
}

}  // namespace skua::identity
