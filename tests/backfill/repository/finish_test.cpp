#include "backfill/repository/finish.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill/repository/resync_rows.hpp"
#include "event/repository_chunks.hpp"
#include "ids/resolver.hpp"
#include "postgres/locks.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "repo/mst_tree.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/filter_table.hpp"
#include "writer/bulk_writer.hpp"
#include "writer/handle_claims.hpp"
#include "writer/row_writer.hpp"
#include "writer/table_samples.hpp"

namespace skua::backfill::finish_test {
namespace {

using test::made_follow;
using test::made_post;
using test::made_write;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kHost = "https://pds.test";
const std::string kHolder = "skua backfill pid 1 at here";
const std::string kPost = "app.bsky.feed.post";

using Records = std::map<std::string, nlohmann::json>;

/// A repository's CAR, and what is read from it.
struct Car {
  Car(const std::string& did, std::uint64_t rev, const Records& records,
      const std::vector<std::string>& left_out = {}) {
    std::vector<std::pair<std::string, atproto::Cid>> entries;
    std::map<std::string, Bytes> blocks;
    for (const auto& [path, record] : records) {
      blocks[path] = event::json_to_dag_cbor(record).value();
      entries.emplace_back(path, atproto::Cid::of(blocks[path]));
    }
    for (const std::string& path : left_out) blocks.erase(path);
    const repo::BuiltMst tree = repo::build_mst(entries);
    const Bytes signature(64);
    repo::Commit commit;
    commit.did = did;
    commit.data = tree.root;
    commit.rev = atproto::Tid{rev};
    commit.signature = signature;
    const Bytes commit_block = repo::commit_bytes(commit);
    repo::CarWriter writer(bytes, std::array{atproto::Cid::of(commit_block)});
    writer.block(commit_block);
    for (const auto& [cid, node] : tree.blocks) writer.block(cid, node);
    for (const auto& [path, block] : blocks) writer.block(block);
    using Extent = repo::RepositoryListing::Extent;
    listing = std::make_unique<repo::RepositoryListing>(
        repo::RepositoryListing::open(bytes, left_out.empty() ? Extent::Whole : Extent::Since)
            .value());
  }
  Bytes bytes;
  std::unique_ptr<repo::RepositoryListing> listing;
};

/// Whether the repository is finished among others, or alone as a large one.
enum class Size : std::uint8_t { Small, Large };

class FinishTest : public test::PostgresTest, public testing::WithParamInterface<Size> {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  void live(event::UnresolvedEvent event) {
    std::vector<event::ResolvedEvent> batch;
    batch.push_back({std::move(event)});
    EXPECT_TRUE(ids::Resolver(session(), ids_, clock_).resolve(batch).empty());
    live_.write(session(), test::pointers_to(batch), clock_.now());
  }
  void lease_next(const std::string& did) {
    const std::vector<NewJob> jobs = {{did, kHost}};
    add_jobs(session(), jobs, Again::Yes, clock_.now());
    ASSERT_EQ(lease_jobs(session(), Place::at(kHost), 1, {kHolder, clock_.now()}).size(), 1U);
  }
  /// Every record of the CAR, as the workers write them.
  void write(const Car& car, const std::string& did, std::uint64_t rev) {
    event::RepositoryChunks chunks(*car.listing, did, {rev}, 1);
    while (auto chunk = chunks.next()) {
      EXPECT_TRUE(ids::Resolver(session(), ids_, clock_).resolve(chunk->events).empty());
      bulk_.write(session(), test::pointers_to(chunk->events), clock_.now());
    }
  }
  WrittenRepository written(const Car& car, const std::string& did, Size size) {
    WrittenRepository one;
    one.did = did;
    one.actor_id = std::stoll(value("SELECT bsky.actor_id('" + did + "')"));
    one.rev = *car.listing->commit().rev;
    one.data = car.listing->commit().data;
    one.records = size == Size::Large ? std::int64_t{kLargeRepository} : 1;
    one.listing = car.listing.get();
    return one;
  }
  Finished finish(const Car& car, const std::string& did = kAlice) {
    const std::vector<WrittenRepository> one = {written(car, did, GetParam())};
    return finish_repositories(session(), one, kHolder, clock_.now());
  }
  Finished bring_in(const Car& car, std::uint64_t rev) {
    lease_next(kAlice);
    write(car, kAlice, rev);
    return finish(car);
  }
  std::string paths() {
    return value(
        "SELECT string_agg(substr(uri, 20), ' ' ORDER BY uri) FROM bsky.all_records "
        "WHERE did = '" +
        kAlice + "'");
  }

  test::ManualClock clock_;
  ids::SharedIds ids_;
  const writer::BulkWriter bulk_{writer::SourceNames("backfill")};
  const writer::RowWriter live_{writer::SourceNames("relay:test")};
};

TEST_P(FinishTest, rows_that_the_car_does_not_hold_go_from_every_table) {
  for (const test::TableSample& sample : test::table_samples()) {
    live(made_write(kAlice, sample.collection, sample.rkey, 10, sample.record));
  }
  live(made_write(kAlice, "com.example.thing", "odd:key", 10, {{"a", 1}}));
  live(made_write(kAlice, "com.example.thing", "3l2s5xxv2ze2c", 10, {{"a", 1}}));
  live(made_write(kAlice, "app.bsky.graph.follow", "3l2s5xxv2ze2z", 10,
                  {{"$type", "app.bsky.graph.follow"}, {"subject", kBob}}));
  live(made_write(kAlice, "com.example.thing", "newer", 21, {{"a", 1}}));
  live(made_write(kBob, kPost, "3l2s5xxv2ze2c", 10, made_post("of another")));
  const Car car(kAlice, 20, {{"com.example.thing/kept", {{"a", 2}}}});
  const Finished finished = bring_in(car, 20);
  EXPECT_EQ(finished.done, std::vector{kAlice});
  EXPECT_EQ(finished.removed, test::table_samples().size() + 3);
  EXPECT_EQ(paths(), "com.example.thing/kept com.example.thing/newer");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records WHERE did = '" + kBob + "'"), "1");
  EXPECT_EQ(value("SELECT count(*) || ' ' || min(rev) FROM bsky.posts WHERE is_deleted"), "1 20");
  EXPECT_EQ(value("SELECT floor_rev FROM bsky.actors WHERE did = '" + kAlice + "'"), "20");
  EXPECT_EQ(value("SELECT concat_ws(' ', state, rev) FROM skua.repositories"), "complete 20");
  EXPECT_EQ(value("SELECT concat_ws(' ', state, rev) FROM skua.backfill_jobs"), "done 20");
}

/// The stored status of an account, when its repository was requested, and what follows from it.
struct Reported {
  const char* status;
  std::chrono::minutes before_request;
  const char* account;
  const char* repository;
};

TEST_P(FinishTest, a_repository_that_was_given_out_shows_that_its_account_is_active) {
  using namespace std::chrono_literals;
  const Car car(kAlice, 20, {{"com.example.thing/kept", {{"a", 2}}}});
  for (const Reported& reported : {Reported{"deleted", 6min, "t", "complete"},
                                   Reported{"deleted", 4min, "f deleted", "desynchronized"},
                                   Reported{"deactivated", 6min, "t", "complete"},
                                   Reported{"deactivated", 4min, "f deactivated", "complete"},
                                   Reported{"takendown", 6min, "t", "complete"},
                                   Reported{"takendown", 4min, "f takendown", "complete"}}) {
    lease_next(kAlice);
    write(car, kAlice, 20);
    std::vector<WrittenRepository> one = {written(car, kAlice, GetParam())};
    one[0].requested_at = clock_.now();
    session().run(std::string("UPDATE bsky.actors SET active = false, status = '") +
                  reported.status + "', status_time = to_timestamp(" +
                  std::to_string(std::chrono::duration<double>(
                                     (clock_.now() - reported.before_request).time_since_epoch())
                                     .count()) +
                  ") WHERE did = '" + kAlice + "'");
    finish_repositories(session(), one, kHolder, clock_.now());
    EXPECT_EQ(value("SELECT concat_ws(' ', active, status) FROM bsky.actors WHERE did = '" +
                    kAlice + "'"),
              reported.account);
    EXPECT_EQ(value("SELECT state FROM skua.repositories"), reported.repository)
        << reported.status << reported.before_request.count();
  }
}

TEST_P(FinishTest, without_a_request_a_repository_says_nothing_about_its_account) {
  const Car car(kAlice, 20, {{"com.example.thing/kept", {{"a", 2}}}});
  lease_next(kAlice);
  write(car, kAlice, 20);
  session().run(
      "UPDATE bsky.actors SET active = false, status = 'deleted', status_time = '1970-01-02Z'");
  finish(car);
  EXPECT_EQ(value("SELECT concat_ws(' ', active, status) FROM bsky.actors"), "f deleted");
  EXPECT_EQ(value("SELECT state FROM skua.repositories"), "complete");
}

TEST_P(FinishTest, what_it_brought_stays_when_it_is_brought_again) {
  Records records;
  for (int i = 0; i < 120; ++i) {
    records["app.bsky.graph.follow/odd:" + std::to_string(i)] = made_follow(kBob);
    records["com.example.thing/odd:" + std::to_string(i)] = {{"a", i}};
  }
  const Car car(kAlice, 20, records);
  EXPECT_EQ(bring_in(car, 20).removed, 0U);
  const std::string before =
      value("SELECT string_agg(r::text, ';' ORDER BY uri) FROM bsky.all_records r");
  const Finished again = bring_in(car, 20);
  EXPECT_EQ(again.done, std::vector{kAlice});
  EXPECT_EQ(again.removed, 0U);
  EXPECT_EQ(value("SELECT string_agg(r::text, ';' ORDER BY uri) FROM bsky.all_records r"), before);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "240");
}

// If the revision was not lowered, an equal one changes nothing.
TEST_P(FinishTest, doubted_rows_of_the_same_revision_give_way) {
  Records records;
  for (int i = 0; i < 120; ++i) {
    const std::string rkey = "odd:" + std::to_string(i);
    records["app.bsky.graph.follow/" + rkey] = made_follow(kBob);
    records["com.example.thing/" + rkey] = {{"a", i}};
  }
  for (const test::TableSample& sample : test::table_samples()) {
    records[std::string(sample.collection) + "/" + std::string(sample.rkey)] = sample.record;
  }
  const Car car(kAlice, 20, records);
  bring_in(car, 20);
  const std::string before = value(
      "SELECT string_agg(uri || cid, ';' ORDER BY uri) FROM "
      "bsky.all_records");
  const std::vector<std::string> alice = {kAlice};
  remember_rows(session(), alice);
  EXPECT_EQ(rows_changed(session(), alice).at(0).added, 0);

  const std::string other = "'\\x" + std::string(64, '1') + "'";
  session().run("DELETE FROM bsky.records WHERE record ->> 'a' = '7'");
  session().run("DELETE FROM bsky.posts WHERE cid IS NOT NULL");
  for (const char* table : {"follows", "likes", "profiles"}) {
    session().run("UPDATE bsky." + std::string(table) + " SET cid = " + other +
                  " WHERE ctid = (SELECT min(ctid) FROM bsky." + table + ")");
  }
  session().run(
      "INSERT INTO bsky.blocks SELECT (f).* FROM (SELECT jsonb_populate_record(f, "
      "jsonb_build_object('rkey', f.rkey + n)) AS f FROM bsky.blocks f, "
      "generate_series(1, 60) n) AS more");
  const std::vector<RowsChanged> damage = rows_changed(session(), alice);
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_EQ(damage[0].did, kAlice);
  EXPECT_EQ(damage[0].stored, static_cast<std::int64_t>(records.size()) - 2 + 60);
  EXPECT_EQ(damage[0].added, 60);
  EXPECT_EQ(damage[0].removed, 2);
  EXPECT_EQ(damage[0].replaced, 3);

  EXPECT_EQ(lower_newest_revs(session(), kAlice), records.size() - 2 + 60);
  EXPECT_EQ(bring_in(car, 20).removed, 60U);
  EXPECT_EQ(value("SELECT string_agg(uri || cid, ';' ORDER BY uri) FROM bsky.all_records"), before);
  EXPECT_EQ(rows_changed(session(), alice).at(0).replaced, 0);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records WHERE rev < bsky.tid_text(19)"), "0");
}

TEST_P(FinishTest, rows_of_whom_nobody_knows_are_not_doubted) {
  EXPECT_EQ(lower_newest_revs(session(), "did:plc:nobody"), 0U);
  const std::vector<std::string> nobody = {"did:plc:nobody"};
  remember_rows(session(), nobody);
  EXPECT_TRUE(rows_changed(session(), nobody).empty());
}

TEST_P(FinishTest, more_rows_than_a_page_go) {
  live(made_write(kAlice, "app.bsky.graph.follow", "3l2s5xxv2ze2c", 10, made_follow(kBob)));
  session().run(
      "INSERT INTO bsky.follows SELECT (f).* FROM (SELECT jsonb_populate_record(f, "
      "jsonb_build_object('rkey', f.rkey + n)) AS f FROM bsky.follows f, "
      "generate_series(1, 12000) n) AS more");
  const Car car(kAlice, 20, {{"app.bsky.graph.follow/3l2s5xxv2ze2c", made_follow(kBob)}});
  EXPECT_EQ(bring_in(car, 20).removed, 12'000U);
  EXPECT_EQ(paths(), "app.bsky.graph.follow/3l2s5xxv2ze2c");
}

TEST_P(FinishTest, of_a_part_only_what_it_speaks_of_goes) {
  Records records;
  std::vector<std::string> unchanged;
  for (int i = 0; i < 10; ++i) {
    const std::string path = "com.example.thing/" + std::to_string(i);
    live(made_write(kAlice, "com.example.thing", std::to_string(i), 10, {{"a", i}}));
    if (i != 5) records[path] = {{"a", i}};
    if (i < 3) unchanged.push_back(path);
  }
  records["com.example.thing/4"] = {{"a", "changed"}};
  const Car car(kAlice, 20, records, unchanged);
  const Finished finished = bring_in(car, 20);
  EXPECT_EQ(finished.removed, 1U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.records"), "9");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.records WHERE record ->> 'a' = '5'"), "0");
}

TEST_P(FinishTest, a_car_below_the_floor_is_stale_and_changes_nothing) {
  live(made_write(kAlice, "com.example.thing", "one", 10, {{"a", 1}}));
  session().run("UPDATE bsky.actors SET floor_rev = 21");
  const Finished finished = bring_in(Car(kAlice, 20, {}), 20);
  EXPECT_EQ(finished.stale, std::vector{kAlice});
  EXPECT_TRUE(finished.done.empty());
  EXPECT_EQ(paths(), "com.example.thing/one");
  EXPECT_EQ(value("SELECT state FROM skua.backfill_jobs"), "running");
  EXPECT_EQ(value("SELECT count(*) FROM skua.repositories WHERE state = 'complete'"), "0");
}

TEST_P(FinishTest, a_job_that_was_taken_away_is_not_done) {
  lease_next(kAlice);
  const Car car(kAlice, 20, {{"com.example.thing/kept", {{"a", 2}}}});
  write(car, kAlice, 20);
  session().run("UPDATE skua.backfill_jobs SET lease_owner = 'another'");
  const Finished finished = finish(car);
  EXPECT_TRUE(finished.done.empty());
  EXPECT_TRUE(finished.stale.empty());
  EXPECT_EQ(value("SELECT count(*) FROM skua.repositories WHERE state = 'complete'"), "0");
  EXPECT_EQ(value("SELECT state FROM skua.backfill_jobs"), "running");
}

TEST_P(FinishTest, two_at_once_make_it_done_once) {
  lease_next(kAlice);
  live(made_write(kAlice, "com.example.thing", "absent", 10, {{"a", 1}}));
  const Car car(kAlice, 20, {{"com.example.thing/kept", {{"a", 2}}}});
  write(car, kAlice, 20);
  const std::vector<WrittenRepository> one = {written(car, kAlice, GetParam())};
  postgres::Session other(database_.url(), "other");
  Finished by_other;
  std::thread thread([&] { by_other = finish_repositories(other, one, kHolder, clock_.now()); });
  const Finished finished = finish_repositories(session(), one, kHolder, clock_.now());
  thread.join();
  EXPECT_EQ(finished.done.size() + by_other.done.size(), 1U);
  EXPECT_EQ(paths(), "com.example.thing/kept");
}

TEST_P(FinishTest, a_handle_in_the_document_is_claimed) {
  lease_next(kAlice);
  const Car car(kAlice, 20, {{"com.example.thing/kept", {{"a", 2}}}});
  write(car, kAlice, 20);
  std::vector<WrittenRepository> one = {written(car, kAlice, GetParam())};
  one[0].handle = "alice.test";
  finish_repositories(session(), one, kHolder, clock_.now());
  EXPECT_EQ(value("SELECT handle FROM bsky.actors WHERE did = '" + kAlice + "'"), "alice.test");
}

TEST_P(FinishTest, a_handle_that_changed_after_the_document_was_fetched_stays_changed) {
  const auto at = [](int seconds) { return Timestamp(std::chrono::seconds(seconds)); };
  // The newest commit is of second 30.
  const std::uint64_t rev = std::uint64_t{30'000'000} << 10;
  lease_next(kAlice);
  const Car car(kAlice, rev, {{"com.example.thing/kept", {{"a", 2}}}});
  write(car, kAlice, rev);
  std::vector<WrittenRepository> one = {written(car, kAlice, GetParam())};
  one[0].handle = "former.test";
  one[0].document_time = at(10);
  finish_repositories(session(), one, kHolder, clock_.now());
  const auto claim = [&](int seconds, const std::string& handle) {
    writer::Effects effects;
    const std::array<writer::HandleClaim, 1> claims{{{one[0].actor_id, handle, at(seconds)}}};
    postgres::Transaction transaction(session());
    writer::write_handle_claims(session(), claims, clock_.now(), effects);
    transaction.commit();
    return value("SELECT handle_claim FROM bsky.actors WHERE did = '" + kAlice + "'");
  };
  EXPECT_EQ(claim(5, "older.test"), "former.test");
  EXPECT_EQ(claim(20, "later.test"), "later.test");
}

TEST_P(FinishTest, what_was_asked_for_under_a_narrower_filter_waits_for_a_resync) {
  const auto state = [&] {
    return value("SELECT state FROM skua.repositories WHERE did = '" + kAlice + "'");
  };
  tables::change_filter(session(), tables::FilterEdit::Set, {{kPost}, {}});
  const Car car(kAlice, 50, {{kPost + "/a", made_post("a")}});
  lease_next(kAlice);
  write(car, kAlice, 50);
  const std::vector<WrittenRepository> one = [&] {
    std::vector<WrittenRepository> all = {written(car, kAlice, GetParam())};
    all.front().filter_version = tables::load_filter_state(session()).settled;
    return all;
  }();
  tables::change_filter(session(), tables::FilterEdit::Set, {});
  EXPECT_EQ(finish_repositories(session(), one, kHolder, clock_.now()).done.size(), 1U);
  EXPECT_EQ(state(), "desynchronized");
  session().run("UPDATE skua.filter_state SET widened_at = widened_at - interval '1 minute'");
  lease_next(kAlice);
  std::vector<WrittenRepository> again = one;
  again.front().filter_version = tables::load_filter_state(session()).settled;
  EXPECT_EQ(finish_repositories(session(), again, kHolder, clock_.now()).done.size(), 1U);
  EXPECT_EQ(state(), "complete");
}

INSTANTIATE_TEST_SUITE_P(Sizes, FinishTest, testing::Values(Size::Small, Size::Large),
                         [](const auto& test) {
                           return test.param == Size::Large ? "large" : "small";
                         });

/// The rows of a large repository are removed after its floor was committed. After a failure in
/// between it is marked, and the call can be repeated.
class FinishLargeTest : public FinishTest {};

TEST_P(FinishLargeTest,
       what_is_cut_off_after_its_floor_leaves_a_resync_due_and_goes_on_when_repeated) {
  live(made_write(kAlice, "com.example.thing", "absent", 10, {{"a", 1}}));
  lease_next(kAlice);
  const Car car(kAlice, 20, {{"com.example.thing/kept", {{"a", 2}}}});
  write(car, kAlice, 20);
  session().run(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "RAISE EXCEPTION 'refused' USING ERRCODE = '53100'; END $$; "
      "CREATE TRIGGER refuse BEFORE DELETE ON bsky.records EXECUTE FUNCTION refuse()");
  EXPECT_THROW(finish(car), postgres::ServerError);
  EXPECT_EQ(value("SELECT floor_rev FROM bsky.actors WHERE did = '" + kAlice + "'"), "20");
  EXPECT_EQ(value("SELECT state FROM skua.repositories"), "desynchronized");
  EXPECT_EQ(value("SELECT state FROM skua.backfill_jobs"), "running");
  session().run("DROP TRIGGER refuse ON bsky.records");
  EXPECT_EQ(finish(car).done, std::vector{kAlice});
  EXPECT_EQ(paths(), "com.example.thing/kept");
  EXPECT_EQ(value("SELECT state FROM skua.repositories"), "complete");
}

INSTANTIATE_TEST_SUITE_P(Sizes, FinishLargeTest, testing::Values(Size::Large));

}  // namespace
}  // namespace skua::backfill::finish_test
