#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "feed/consumers/tuning.hpp"
#include "store/session.hpp"

namespace skua::feed {

/// Executes a statement that contains the fragment `tuning` (tuning.sql): its first six parameters
/// are the tuning profiles, `others` are the parameters from 7 on. Throws store::SqlError.
template <class... Arguments>
store::Rows execute_tuned(store::Session& session, const store::Statement& statement,
                          const Arguments&... others) {
  const std::vector<Tuning>& profiles = tuning_profiles();
  const auto milliseconds = [](std::chrono::milliseconds Tuning::*time) {
    return [time](const Tuning& profile) {
      return static_cast<std::int32_t>((profile.*time).count());
    };
  };
  using store::column;
  return session.execute(
      statement, column(profiles, &Tuning::profile), column(profiles, &Tuning::batch),
      column(profiles, milliseconds(&Tuning::pause)), column(profiles, &Tuning::max_attempts),
      column(profiles, milliseconds(&Tuning::retry)),
      column(profiles, milliseconds(&Tuning::max_retry)), others...);
}

}  // namespace skua::feed
