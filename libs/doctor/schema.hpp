#pragma once

#include <cstdint>
#include <string>

#include "doctor/finding.hpp"
#include "store/session.hpp"

namespace skua::doctor {

/// The schema of the database, compared with that of this program.
struct SchemaState {
  enum class Kind : std::uint8_t { Current, Old, Newer, Other };
  Kind kind = Kind::Current;
  /// Of a current one: the newest migration. Otherwise: the difference.
  std::string text = {};
};

/// Throws store::SqlError.
SchemaState read_schema_state(store::Session& session);

/// Pure.
Finding judge_schema(const SchemaState& state);

}  // namespace skua::doctor
