#pragma once

#include <cstdint>

#include "store/session.hpp"

namespace skua::resolve {

/// Moves the sequence of account numbers to the greatest number that an account has, if it is
/// behind this number, as after a restore of the rows alone. No session draws a number meanwhile.
/// Returns whether it moved. Call it outside of a transaction. Throws store::SqlError.
bool raise_actor_sequence(store::Session& session);

/// The share of all account numbers (int4) that has been drawn, 0 to 1; numbers that no account has
/// count as well. Throws store::SqlError.
double actor_numbers_used(store::Session& session);

/// Logs a warning when half and when four fifths of the account numbers are used, once each. One
/// thread.
class ActorNumberAlarm {
 public:
  /// The share that is used, 0 to 1. True: it logged a warning.
  bool look_at(double used);

 private:
  int warned_percent_ = 0;
};

}  // namespace skua::resolve
