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
  /// It is a member of skua_reader, or of skua_writer.
  bool is_reader = false;
  bool is_writer = false;
  /// Tables of bsky and skua that neither it nor a role of which it is a member owns, and one of
  /// them.
  std::int64_t not_owned = 0;
  std::string example = {};
  /// Tables that `skua run` writes and this role may not, and one of them.
  std::int64_t not_writable = 0;
  std::string example_not_writable = {};
};

/// Needs no rights. Throws postgres::SqlError.
RoleFound read_role(postgres::Session& session);
/// Pure.
Finding judge_role(const RoleFound& role);

/// The rights of the role skua_reader.
struct ReaderRole {
  bool exists = false;
  /// Tables and views for readers that it may not read, and one of them.
  std::int64_t lacks = 0;
  std::string example = {};
};

/// Nothing: the session's role may not know which tables are for readers. Throws
/// postgres::SqlError.
std::optional<ReaderRole> read_reader_role(postgres::Session& session);
/// Pure.
Findings judge_reader_role(const std::optional<ReaderRole>& reader);

}  // namespace skua::doctor
