#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doctor/finding.hpp"
#include "postgres/session.hpp"

namespace skua::doctor {

/// The rights of the session's role.
struct RoleFound {
  std::string name = {};
  /// Whether the role is a member of skua_reader, and of skua_writer.
  bool is_reader = false;
  bool is_writer = false;
  /// The number of tables of bsky and skua that are owned neither by the role nor by a role of
  /// which it is a member, and the name of one such table.
  std::int64_t not_owned = 0;
  std::string example = {};
  /// The number of tables that `skua run` writes and this role may not write, and the name of one
  /// such table.
  std::int64_t not_writable = 0;
  std::string example_not_writable = {};
};

/// Reads the rights of the session's role. Needs no rights. Throws postgres::SqlError.
RoleFound read_role(postgres::Session& session);
/// Judges the rights of the session's role. Pure.
Finding judge_role(const RoleFound& role);

/// The rights of the role skua_reader.
struct ReaderRole {
  bool exists = false;
  /// The number of tables and views for readers that the role may not read, and the name of one of
  /// them.
  std::int64_t lacks = 0;
  std::string example = {};
};

/// Returns nothing if the session's role may not know which tables are for readers. Throws
/// postgres::SqlError.
std::optional<ReaderRole> read_reader_role(postgres::Session& session);
/// Judges the rights of the role skua_reader. Pure.
Findings judge_reader_role(const std::optional<ReaderRole>& reader);

}  // namespace skua::doctor
