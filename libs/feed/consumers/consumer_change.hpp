#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "store/session.hpp"

namespace skua::feed {

/// A name, profile, override or state that does not allow the request. The message tells the user.
class ConsumerError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A transaction of a command about consumers. One such command runs at a time. The constructor
/// throws store::SqlError.
class ConsumerChange {
 public:
  explicit ConsumerChange(store::Session& session);
  void commit() { transaction_.commit(); }

 private:
  store::Transaction transaction_;
};

// All throw ConsumerError, and store::SqlError.

/// A power of two up to 64.
void check_lanes(std::int16_t lanes);
void check_profile(const std::string& profile);
void require_consumer(store::Session& session, const std::string& name);
void refuse_consumer(store::Session& session, const std::string& name);

}  // namespace skua::feed
