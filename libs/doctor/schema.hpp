#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "doctor/finding.hpp"
#include "store/session.hpp"

namespace skua::doctor {

/// The migrations of the database, compared with those of this program.
struct SchemaState {
  enum class Kind : std::uint8_t { Current, Old, Newer, Other };
  Kind kind = Kind::Current;
  /// Of an old one: the number of migrations that are pending, and the first of them.
  std::size_t pending = 0;
  std::string first_pending = {};
  /// Of a current one: the newest migration. Of a newer or other one: the difference.
  std::string text = {};
};

/// Throws store::SqlError.
SchemaState read_schema_state(store::Session& session);

/// Pure.
Finding judge_schema(const SchemaState& state);

}  // namespace skua::doctor
