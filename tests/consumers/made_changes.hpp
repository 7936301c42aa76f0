#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "postgres/session.hpp"
#include "support/postgres.hpp"
#include "tables/change_log.hpp"

namespace skua::consumers {

/// A migrated database, into which tests write likes of posts as the indexer does: the record and
/// its change in one transaction.
class ChangesTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  static constexpr std::int32_t kAuthor = 7;

  /// The account likes the post `post` of kAuthor. Returns the position of the change.
  std::int64_t like(AccountNumber account, std::int64_t post = 1) {
    return like(session(), account, post);
  }
  static std::int64_t like(postgres::Session& session, AccountNumber account, std::int64_t post) {
    postgres::Transaction transaction(session);
    session.run(
        fmt::format("INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
                    "subject_collection, subject_rkey) VALUES ({}, {}, 1, now(), '', {}, 1, {})",
                    account, post, kAuthor, post));
    const std::int64_t position =
        append(session, account, post, tables::ChangeOperation::Create, 1);
    transaction.commit();
    return position;
  }
  void unlike(AccountNumber account, std::int64_t post = 1) {
    postgres::Transaction transaction(session());
    session().run(
        fmt::format("DELETE FROM bsky.likes WHERE (actor_id, rkey) = ({}, {})", account, post));
    append(session(), account, post, tables::ChangeOperation::Delete, -1);
    transaction.commit();
  }

  /// Likes of all posts, as people see them: "1: 2, 5: 1".
  std::string likes() {
    return value(
        "SELECT coalesce(string_agg(rkey || ': ' || likes, ', ' ORDER BY rkey), '') FROM "
        "bsky.post_stats WHERE likes <> 0");
  }
  std::string state(const std::string& name = "post_stats") {
    return value(
        "SELECT coalesce(string_agg(role || ' ' || state, ', ' ORDER BY role), 'none') FROM "
        "skua.consumers WHERE name = '" +
        name + "'");
  }

 private:
  static std::int64_t append(postgres::Session& session, AccountNumber account, std::int64_t post,
                             tables::ChangeOperation operation, std::int16_t delta) {
    tables::Change change{
        .operation = operation, .actor_id = account, .collection_id = 2, .rkey = post, .rev = 1};
    if (operation == tables::ChangeOperation::Create) change.cid = atproto::Digest{};
    return tables::append_changes(session, {.changes = {change},
                                            .references = {{.role = tables::ReferenceRole::Like,
                                                            .delta = delta,
                                                            .target = {kAuthor, 1, post}}}});
  }
};

}  // namespace skua::consumers
