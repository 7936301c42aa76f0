#include "store/lock_owner.hpp"

#include <fmt/format.h>

#include "store/lock_owner.sql.hpp"

namespace skua::store {
namespace {

struct Owner {
  std::int32_t pid;
  std::optional<std::string> session;
  std::optional<std::string> address;
  std::optional<std::string> since;
};

std::optional<std::string> text_of(const std::optional<Owner>& owner) {
  if (!owner) return std::nullopt;
  std::string text = owner->session ? "'" + *owner->session + "'" : "another user's session";
  text += fmt::format(" (server process {}", owner->pid);
  if (owner->address) text += fmt::format(", from {}", *owner->address);
  if (owner->since) text += fmt::format(", since {} UTC", *owner->since);
  return text + ")";
}

}  // namespace

std::optional<std::string> lock_owner(Session& session, RecordLockKey key) {
  return text_of(session.query_first<Owner>(sql::lock_record_owner, key.key));
}

std::optional<std::string> lock_owner(Session& session, NamedLockKey key) {
  return text_of(session.query_first<Owner>(sql::lock_named_owner, key.space, key.key));
}

}  // namespace skua::store
