#pragma once

#include <exception>
#include <string_view>
#include <utility>

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

}  // namespace skua::identity
