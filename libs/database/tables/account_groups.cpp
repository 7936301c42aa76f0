#include "tables/account_groups.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "postgres/connection_string.hpp"
#include "tables/account_groups.sql.hpp"

namespace skua::tables {
namespace {

struct GroupsRow {
  bool numbers_have_group;
  std::string owned;
  int group_shift;
};

AccountGroups groups_of(const GroupsRow& row) {
  // The constraints of the table ensure the form.
  return {row.numbers_have_group, atproto::GroupSet::parse(row.owned).value(), row.group_shift};
}

[[noreturn]] void refuse(const AccountGroups& stored, const atproto::GroupSet& stated,
                         const std::string& reason) {
  throw GroupsRefused(fmt::format(
      "--groups {}: the database owns {}, and {}", stated.text(),
      stored.owned.has_all() ? "all groups of accounts" : "the groups " + stored.owned.text(),
      reason));
}

/// Refuses other groups if the database has content, or if another process works with it.
void require_change(postgres::Session& session, const AccountGroups& stored,
                    const atproto::GroupSet& stated) {
  if (!stored.numbers_have_group) {
    refuse(stored, stated,
           "its account numbers are of a version that did not know groups; index into a new "
           "database");
  }
  if (session.query_one<bool>(sql::groups_used)) {
    refuse(stored, stated,
           "the groups of a database do not change after the first events, jobs or lists; leave "
           "the option out, or index into a new database");
  }
  const auto other =
      session.query_one<std::optional<std::string>>(sql::groups_others, postgres::process_token());
  if (other) refuse(stored, stated, fmt::format("'{}' works with these; end it first", *other));
}

}  // namespace

AccountGroups load_account_groups(postgres::Session& session) {
  return groups_of(session.query_one<GroupsRow>(sql::groups_load));
}

AccountGroups state_account_groups(postgres::Session& session,
                                   const std::optional<atproto::GroupSet>& stated) {
  AccountGroups stored = load_account_groups(session);
  if (!stated || *stated == stored.owned) return stored;
  postgres::Transaction transaction(session);
  stored = groups_of(session.query_one<GroupsRow>(sql::groups_lock));
  if (*stated == stored.owned) return stored;
  require_change(session, stored, *stated);
  session.execute(sql::groups_set, stated->list());
  transaction.commit();
  stored.owned = *stated;
  logger("store")->info("the database now owns the groups of accounts {}", stated->text());
  return stored;
}

std::optional<atproto::NumberKey> load_number_key(postgres::Session& session) {
  const auto key = session.query<atproto::NumberKey>(sql::groups_number_key);
  return key.empty() ? std::nullopt : std::optional(key.front());
}

void make_node(postgres::Session& session, const atproto::GroupSet& owned,
               const atproto::NumberKey& key) {
  postgres::Transaction transaction(session);
  const AccountGroups stored = groups_of(session.query_one<GroupsRow>(sql::groups_lock));
  if (owned == stored.owned && load_number_key(session) == key) return;
  require_change(session, stored, owned);
  session.execute(sql::groups_set, owned.list());
  session.execute(sql::groups_set_key, key);
  session.execute(sql::groups_set_shift, kComputedBits);
  transaction.commit();
  logger("store")->info("the database is now a node that owns the groups of accounts {}",
                        owned.text());
}

std::string foreign_text(std::string_view did) {
  return fmt::format("group {}, which this database does not own", atproto::account_group(did));
}

}  // namespace skua::tables
