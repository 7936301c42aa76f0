#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "support/postgres.hpp"
#include "tables/change_log.hpp"

namespace skua::test {

/// A test with a database in which accounts have likes, whose changes are in the log.
class FeedTest : public PostgresTest {
 protected:
  static constexpr std::int32_t kLikes = 2;
  /// The key of the first like, 2222222222222 as text.
  static constexpr std::int64_t kFirst = 0;

  void SetUp() override {
    SKUA_NEED_POSTGRES();
    session().run(
        "INSERT INTO bsky.actors (did, indexed_at) SELECT 'did:plc:' || n, now() "
        "FROM generate_series(1, 9) AS n ORDER BY n");
  }

  /// The hash of a version of a record.
  static atproto::Digest digest(int version) {
    atproto::Digest digest{};
    digest[0] = static_cast<std::uint8_t>(version);
    return digest;
  }
  static tables::Change like(std::int64_t rkey, int version = 1, AccountNumber actor_id = 1) {
    return {.actor_id = actor_id,
            .collection_id = kLikes,
            .rkey = rkey,
            .rev = 5,
            .cid = digest(version)};
  }

  /// Stores a like of the account 2's first post.
  void store_like(std::int64_t rkey, int version = 1, AccountNumber actor_id = 1) {
    postgres::Params params;
    params.int8(actor_id).int8(rkey).bytea(digest(version));
    static const postgres::Statement kStore{
        "test_store_like",
        "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, created_at, subject_actor, "
        "subject_collection, subject_rkey, subject_cid, cid) VALUES ($1::int8, $2::int8, 5, now(), "
        "'2026-01-01', 2, 1, 0, $3::bytea, $3::bytea) ON CONFLICT (actor_id, rkey) DO UPDATE SET "
        "cid = EXCLUDED.cid"};
    session().execute(kStore, params);
  }

  /// Appends a block, and returns its position.
  std::int64_t append(std::vector<tables::Change> changes,
                      std::vector<tables::ChangedReference> references = {}) {
    const tables::ChangeBlock block{std::move(changes), std::move(references)};
    postgres::Transaction transaction(session());
    const auto position = tables::append_changes(session(), block);
    transaction.commit();
    return position;
  }
  /// Stores likes with successive keys, and appends a block for each.
  void add_likes(std::int64_t first, std::int64_t count) {
    for (std::int64_t rkey = first; rkey < first + count; ++rkey) {
      store_like(rkey);
      append({like(rkey)});
    }
  }
};

}  // namespace skua::test
