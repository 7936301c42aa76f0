#pragma once

#include <cstdint>

#include "store/sql_error.hpp"

namespace skua::feed {

/// The subject of an SQL error of the work for one consumer. It determines how the work continues.
enum class FailedWork : std::uint8_t {
  /// The server or the connection (classes 08, 53 and 57P, a read-only server): nothing is stored,
  /// and the work of all consumers is repeated.
  Server,
  /// Perhaps one of the changes (classes 22, 23, 54 and P0, and 57014, a batch that takes too
  /// long): the batch is halved until the change is alone.
  Change,
  /// Another session (class 40, 55P03): the consumer waits, and tries again.
  Lock,
  /// The tables of the consumer, its statements or a right (all others): it fails with any changes.
  /// The consumer waits, and tries again.
  Tables,
};

/// Pure.
FailedWork failed_work(const store::SqlError& error);

}  // namespace skua::feed
