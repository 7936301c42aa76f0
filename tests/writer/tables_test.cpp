#include <algorithm>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/cid.hpp"
#include "ids/resolver.hpp"
#include "records/record.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "writer/table_samples.hpp"
#include "writer/table_writer.hpp"

namespace skua::writer::tables_test {
namespace {

using event::ResolvedEvent;
using event::UnresolvedEvent;
using test::made_delete;
using test::made_post;
using test::made_write;
using test::TableSample;

constexpr const char* kAuthor = "did:plc:author";

/// Writes to tables as the live writer does, without locks, guard and fold.
class TablesTest : public testing::Test {
 protected:
  // One database for all: making one takes longer than a test.
  static void SetUpTestSuite() { database_ = std::make_unique<test::Database>(); }
  static void TearDownTestSuite() { database_.reset(); }

  void SetUp() override {
    SKUA_NEED_POSTGRES();
    session_ = std::make_unique<postgres::Session>(database_->url(), "test");
    std::string tables = "bsky.actors, bsky.rkeys, bsky.records";
    for (const TableSample& sample : test::table_samples()) tables += ", bsky." + sample.table;
    session_->run("TRUNCATE " + tables + " RESTART IDENTITY");
    ids_ = std::make_unique<ids::SharedIds>();
  }

  std::vector<ResolvedEvent> resolved(std::vector<UnresolvedEvent> events) {
    std::vector<ResolvedEvent> batch;
    for (auto& event : events) batch.push_back({std::move(event)});
    EXPECT_TRUE(ids::Resolver(*session_, *ids_, clock_).resolve(batch).empty());
    return batch;
  }
  static std::vector<const ResolvedEvent*> pointers(const std::vector<ResolvedEvent>& batch) {
    std::vector<const ResolvedEvent*> all;
    for (const auto& event : batch) all.push_back(&event);
    return all;
  }
  static const TableWriter& table_for(const ResolvedEvent& event) {
    const bool is_typed =
        event.change().operation == event::Operation::Delete || event.record().record.index() != 0;
    const TableWriter* table = table_of(event.collection_id);
    return is_typed && table != nullptr ? *table : records_table();
  }

  std::size_t upsert(UnresolvedEvent event) {
    std::vector<UnresolvedEvent> events;
    events.push_back(std::move(event));
    const auto batch = resolved(std::move(events));
    return table_for(batch[0]).upsert(*session_, pointers(batch), clock_.now(), effects_);
  }
  std::size_t remove(UnresolvedEvent event) {
    std::vector<UnresolvedEvent> events;
    events.push_back(std::move(event));
    const auto batch = resolved(std::move(events));
    return table_for(batch[0]).remove(*session_, pointers(batch), clock_.now(), effects_);
  }

  std::string value(const std::string& sql) {
    const postgres::Rows rows = session_->run(sql);
    if (rows.empty() || rows.is_null(0, 0)) return {};
    return std::string(rows.text(0, 0));
  }

  static std::unique_ptr<test::Database> database_;
  std::unique_ptr<postgres::Session> session_;
  std::unique_ptr<ids::SharedIds> ids_;
  test::ManualClock clock_;
  Effects effects_;
};

std::unique_ptr<test::Database> TablesTest::database_;

TEST(TableOfTest, each_typed_collection_has_its_table_and_others_none) {
  std::set<const TableWriter*> tables;
  records::for_each_collection([&]<class R>() {
    const TableWriter* table = table_of(R::kCollectionId);
    ASSERT_NE(table, nullptr) << R::kCollection;
    EXPECT_EQ(table->collection_id(), R::kCollectionId);
    tables.insert(table);
  });
  EXPECT_EQ(tables.size(), records::kTypedCollections);
  EXPECT_EQ(table_of(0), nullptr);
  EXPECT_EQ(table_of(-1), nullptr);
  EXPECT_EQ(table_of(records::kTypedCollections + 1), nullptr);
  EXPECT_EQ(table_of(1000), nullptr);
  EXPECT_EQ(test::table_samples().size(), records::kTypedCollections);
}

TEST_F(TablesTest, collection_ids_are_those_of_the_database) {
  records::for_each_collection([&]<class R>() {
    EXPECT_EQ(
        value("SELECT nsid FROM bsky.collections WHERE id = " + std::to_string(R::kCollectionId)),
        R::kCollection);
  });
}

class EachTableTest : public TablesTest, public testing::WithParamInterface<TableSample> {
 protected:
  UnresolvedEvent write_at(std::uint64_t rev) const { return write_at(rev, GetParam().record); }
  UnresolvedEvent write_at(std::uint64_t rev, const nlohmann::json& record) const {
    return made_write(kAuthor, GetParam().collection, GetParam().rkey, rev, record);
  }
  UnresolvedEvent delete_at(std::uint64_t rev) const {
    return made_delete(kAuthor, GetParam().collection, GetParam().rkey, rev);
  }
  /// The author's row, of which posts have others beside it: stubs.
  std::string of_row(const std::string& expression) {
    return value("SELECT " + expression + " FROM bsky." + GetParam().table +
                 " t WHERE t.actor_id = bsky.actor_id('" + kAuthor + "')");
  }
  std::string uri() const {
    return std::string("at://") + kAuthor + "/" + GetParam().collection + "/" + GetParam().rkey;
  }
};

TEST_P(EachTableTest, the_comment_names_the_collection) {
  const std::string comment =
      value("SELECT obj_description('bsky." + GetParam().table + "'::regclass)");
  EXPECT_NE(comment.find(": the records of " + GetParam().collection + "."), std::string::npos)
      << comment;
}

/// Takes the CIDs of references from the rows of the posts, if the row does not have them.
std::string with_first_cids(const std::string& expression) {
  return std::regex_replace(
      expression, std::regex("t\\.(subject|parent|root|pinned)_cid"),
      "coalesce(t.$1_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts AS p WHERE "
      "p.actor_id = t.$1_actor AND p.rkey = t.$1_rkey))");
}

TEST_P(EachTableTest, an_upsert_fills_every_column) {
  const TableSample& sample = GetParam();
  auto event = write_at(10);
  const std::string cid = std::get<event::RecordChange>(event.body).cid->to_string();
  ASSERT_EQ(std::get<event::RecordChange>(event.body).record.invalid_reason, std::nullopt);
  EXPECT_EQ(upsert(std::move(event)), 1U);
  EXPECT_EQ(of_row(with_first_cids(sample.expression)), sample.expected);
  EXPECT_EQ(of_row("concat_ws('|', bsky.cid_text(t.cid), t.rev, t.indexed_at, "
                   "t.extra - '{$avatar,$banner}'::text[])"),
            cid + "|10|2026-01-02 00:00:00+00|{\"zzNew\": \"not known\"}");
  EXPECT_EQ(of_row("t.created_at"), sample.has_created_at ? "2026-01-02 03:04:05.678+00" : "");
  // The sample has a value for each column: a column that stays null was forgotten.
  EXPECT_EQ(of_row("(SELECT string_agg(key, ' ') FROM jsonb_each(to_jsonb(t)) "
                   "WHERE value = 'null' AND key !~ '^(first|subject|parent|root|pinned)_cid$')"),
            sample.has_created_at ? sample.empty : "created_at");
}

TEST_P(EachTableTest, a_replay_changes_nothing) {
  upsert(write_at(10));
  const std::string before = of_row("t::text");
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(upsert(write_at(10)), 0U);
  EXPECT_EQ(of_row("t::text"), before);
}

TEST_P(EachTableTest, an_older_revision_changes_nothing) {
  upsert(write_at(10));
  const std::string before = of_row("t::text");
  nlohmann::json other = GetParam().record;
  other["zzNew"] = "old";
  EXPECT_EQ(upsert(write_at(9, other)), 0U);
  EXPECT_EQ(remove(delete_at(9)), 0U);
  EXPECT_EQ(remove(delete_at(10)), 0U);
  EXPECT_EQ(of_row("t::text"), before);
}

TEST_P(EachTableTest, the_same_record_at_a_newer_revision_only_moves_rev) {
  upsert(write_at(10));
  const std::string before = of_row("to_jsonb(t) - 'rev'");
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(upsert(write_at(11)), 1U);
  EXPECT_EQ(of_row("to_jsonb(t) - 'rev'"), before);
  EXPECT_EQ(of_row("t.rev"), "11");
}

TEST_P(EachTableTest, a_newer_record_replaces_the_row) {
  upsert(write_at(10));
  clock_.advance(std::chrono::hours(1));
  nlohmann::json newer = GetParam().record;
  newer["zzNew"] = "newer";
  EXPECT_EQ(upsert(write_at(11, newer)), 1U);
  EXPECT_EQ(of_row("concat_ws('|', t.rev, t.indexed_at, t.extra ->> 'zzNew')"),
            "11|2026-01-02 01:00:00+00|newer");
}

TEST_P(EachTableTest, a_delete_takes_the_record_away) {
  upsert(write_at(10));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "1");
  EXPECT_EQ(remove(delete_at(11)), 1U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "0");
  EXPECT_EQ(of_row("t.rev"), GetParam().table == "posts" ? "11" : "");
  EXPECT_EQ(remove(delete_at(11)), 0U);
}

TEST_P(EachTableTest, revisions_are_read) {
  upsert(write_at(10));
  std::vector<UnresolvedEvent> events;
  events.push_back(write_at(10));
  const auto batch = resolved(std::move(events));
  const std::vector<RecordKey> keys = {
      {99, batch[0].collection_id, 1},
      {batch[0].actor_id, batch[0].collection_id, batch[0].rkey_number},
      {batch[0].actor_id, batch[0].collection_id, 12345}};
  EXPECT_EQ(table_for(batch[0]).read_revs(*session_, keys),
            (std::vector<std::int64_t>{TableWriter::kNoRow, 10, TableWriter::kNoRow}));
}

TEST_P(EachTableTest, keys_are_read_and_a_record_is_no_stub) {
  upsert(write_at(10));
  std::vector<UnresolvedEvent> events;
  events.push_back(write_at(10));
  const auto batch = resolved(std::move(events));
  const RecordKey own = {batch[0].actor_id, batch[0].collection_id, batch[0].rkey_number};
  const std::vector<KeyRange> ranges = {
      {{own.actor_id, own.collection_id, own.rkey + 1}, own.rkey + 9, 5},
      {{own.actor_id, own.collection_id, own.rkey - 9}, own.rkey, 5},
      {own, own.rkey + 9, 0}};
  const auto found = table_for(batch[0]).read_keys(*session_, ranges);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[0].empty());
  ASSERT_EQ(found[1].size(), 1U);
  EXPECT_EQ(found[1][0].rkey, own.rkey);
  EXPECT_FALSE(found[1][0].is_stub);
  EXPECT_TRUE(found[2].empty());
  table_for(batch[0]).drop_stubs(*session_, pointers(batch));
  EXPECT_EQ(of_row("rev"), "10");
}

TEST_P(EachTableTest, its_view_and_all_records_show_it) {
  auto event = write_at(10);
  const std::string cid = std::get<event::RecordChange>(event.body).cid->to_string();
  upsert(std::move(event));
  EXPECT_EQ(value("SELECT concat_ws(' ', uri, did, collection, rkey, cid, rev, indexed_at) "
                  "FROM bsky.all_records"),
            uri() + " " + kAuthor + " " + GetParam().collection + " " + GetParam().rkey + " " +
                cid + " " + atproto::Tid{10}.to_string() + " 2026-01-02 00:00:00+00");
  EXPECT_EQ(
      value("SELECT concat_ws(' ', uri, did, cid, rev) FROM bsky." + GetParam().table + "_view"),
      uri() + " " + kAuthor + " " + cid + " " + atproto::Tid{10}.to_string());
}

INSTANTIATE_TEST_SUITE_P(Tables, EachTableTest, testing::ValuesIn(test::table_samples()),
                         [](const auto& sample) { return sample.param.table; });

TEST_F(TablesTest, what_a_record_lacks_is_null) {
  upsert(made_write(kAuthor, "app.bsky.feed.post", "3l2s5xxv2ze2c", 10, made_post("plain")));
  EXPECT_EQ(value("SELECT string_agg(key, ' ' ORDER BY key) FROM bsky.posts t, "
                  "jsonb_each(to_jsonb(t)) WHERE value <> 'null'"),
            "actor_id cid created_at indexed_at is_deleted rev rkey text");
  upsert(made_write(kAuthor, "app.bsky.actor.profile", "self", 10,
                    {{"$type", "app.bsky.actor.profile"}}));
  EXPECT_EQ(value("SELECT string_agg(key, ' ' ORDER BY key) FROM bsky.profiles t, "
                  "jsonb_each(to_jsonb(t)) WHERE value <> 'null'"),
            "actor_id cid indexed_at rev rkey");
}

TEST_F(TablesTest, an_empty_list_is_not_an_absent_one) {
  nlohmann::json post = made_post("x");
  post["langs"] = nlohmann::json::array();
  upsert(made_write(kAuthor, "app.bsky.feed.post", "3l2s5xxv2ze2c", 10, post));
  EXPECT_EQ(value("SELECT concat_ws('|', langs, tags IS NULL) FROM bsky.posts"), "|t");
  EXPECT_EQ(value("SELECT concat_ws('|', langs, tags IS NULL) FROM bsky.posts_view"), "{}|t");
}

TEST_F(TablesTest, a_stub_becomes_a_post_and_a_marked_stub_and_a_post_again) {
  const std::string row =
      "SELECT concat_ws('|', cid IS NULL, is_deleted, rev, indexed_at, text) FROM bsky.posts";
  const std::string post = "app.bsky.feed.post";
  const std::string key = "3l2s5xxv2ze2c";
  nlohmann::json like = test::made_like("at://did:plc:author/app.bsky.feed.post/" + key);
  upsert(made_write("did:plc:fan", "app.bsky.feed.like", key, 5, like));
  EXPECT_EQ(value(row), "t|f|0|2026-01-02 00:00:00+00");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts_view"), "0");

  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(upsert(made_write(kAuthor, post, key, 10, made_post("hello"))), 1U);
  EXPECT_EQ(value(row), "f|f|10|2026-01-02 01:00:00+00|hello");

  EXPECT_EQ(remove(made_delete(kAuthor, post, key, 11)), 1U);
  EXPECT_EQ(value(row), "t|t|11|2026-01-02 01:00:00+00");
  EXPECT_EQ(value("SELECT string_agg(key, ' ' ORDER BY key) FROM bsky.posts t, "
                  "jsonb_each(to_jsonb(t)) WHERE value <> 'null'"),
            "actor_id first_cid indexed_at is_deleted rev rkey");
  EXPECT_EQ(upsert(made_write(kAuthor, post, key, 10, made_post("hello"))), 0U);

  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(upsert(made_write(kAuthor, post, key, 12, made_post("back"))), 1U);
  EXPECT_EQ(value(row), "f|f|12|2026-01-02 02:00:00+00|back");
}

TEST_F(TablesTest, a_deleted_post_leaves_the_same_stub_whether_it_was_seen_before_or_not) {
  const std::string post = "app.bsky.feed.post";
  upsert(made_write(kAuthor, post, "3l2s5xxv2ze2c", 10, made_post("seen")));
  EXPECT_EQ(remove(made_delete(kAuthor, post, "3l2s5xxv2ze2c", 11)), 1U);
  EXPECT_EQ(remove(made_delete(kAuthor, post, "3l2s5xxv2ze2d", 11)), 1U);
  EXPECT_EQ(
      value("SELECT count(DISTINCT to_jsonb(p) - '{rkey,first_cid}'::text[]) FROM bsky.posts AS p"),
      "1");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE is_deleted AND cid IS NULL"), "2");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "0");
  EXPECT_EQ(remove(made_delete(kAuthor, post, "3l2s5xxv2ze2d", 10)), 0U);
}

TEST_F(TablesTest, of_posts_only_those_that_were_referred_to_alone_are_stubs) {
  const std::string post = "app.bsky.feed.post";
  const std::vector<std::string> keys = {"3l2s5xxv2ze2c", "3l2s5xxv2ze2d", "3l2s5xxv2ze2e"};
  upsert(made_write(kAuthor, post, keys[0], 10, made_post("seen")));
  remove(made_delete(kAuthor, post, keys[1], 10));
  const auto like = test::made_like(std::string("at://") + kAuthor + "/" + post + "/" + keys[2]);
  upsert(made_write("did:plc:fan", "app.bsky.feed.like", keys[0], 5, like));
  std::vector<UnresolvedEvent> events;
  for (const std::string& key : keys) {
    events.push_back(made_write(kAuthor, post, key, 11, made_post("again")));
  }
  const auto batch = resolved(std::move(events));
  const std::vector<KeyRange> all = {
      {{batch[0].actor_id, batch[0].collection_id, batch[0].rkey_number}, batch[2].rkey_number, 9}};
  const TableWriter& posts = *table_of(records::Post::kCollectionId);
  auto found = posts.read_keys(*session_, all)[0];
  std::sort(found.begin(), found.end(),
            [](const FoundKey& one, const FoundKey& other) { return one.rkey < other.rkey; });
  ASSERT_EQ(found.size(), 3U);
  EXPECT_FALSE(found[0].is_stub);
  EXPECT_FALSE(found[1].is_stub);
  EXPECT_TRUE(found[2].is_stub);

  posts.drop_stubs(*session_, pointers(batch));
  EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', rev, text, is_deleted), ', ' ORDER BY rkey) "
                  "FROM bsky.posts"),
            "10 seen f, 10 t");
}

TEST_F(TablesTest, a_post_that_breaks_its_lexicon_leaves_a_stub_that_is_not_deleted) {
  const std::string key = "3l2s5xxv2ze2c";
  upsert(made_write(kAuthor, "app.bsky.feed.post", key, 10, made_post("fine")));
  std::vector<UnresolvedEvent> events;
  events.push_back(
      made_write(kAuthor, "app.bsky.feed.post", key, 11, {{"text", 5}}, event::Operation::Update));
  const auto batch = resolved(std::move(events));
  EXPECT_EQ(table_of(1)->remove(*session_, pointers(batch), clock_.now(), effects_), 1U);
  EXPECT_EQ(records_table().upsert(*session_, pointers(batch), clock_.now(), effects_), 1U);
  EXPECT_EQ(value("SELECT concat_ws('|', cid IS NULL, is_deleted, rev) FROM bsky.posts"), "t|f|11");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "1");
  EXPECT_NE(value("SELECT invalid_reason FROM bsky.records"), "");
}

TEST_F(TablesTest, a_record_without_a_table_is_kept_whole) {
  const auto write = [&](std::uint64_t rev, const std::string& word) {
    return upsert(made_write(kAuthor, "com.example.thing", "any:key", rev,
                             {{"$type", "com.example.thing"}, {"word", word}, {"n", 1}}));
  };
  EXPECT_EQ(write(10, "one"), 1U);
  EXPECT_EQ(value("SELECT concat_ws('|', uri, collection, record, invalid_reason IS NULL) "
                  "FROM bsky.records_view"),
            "at://did:plc:author/com.example.thing/any:key|com.example.thing|"
            "{\"n\": 1, \"word\": \"one\", \"$type\": \"com.example.thing\"}|t");
  const std::string before = value("SELECT r::text FROM bsky.records r");
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(write(10, "one"), 0U);
  EXPECT_EQ(write(9, "old"), 0U);
  EXPECT_EQ(value("SELECT r::text FROM bsky.records r"), before);
  EXPECT_EQ(write(11, "one"), 1U);
  EXPECT_EQ(value("SELECT concat_ws('|', rev, indexed_at) FROM bsky.records"),
            "11|2026-01-02 00:00:00+00");
  EXPECT_EQ(write(12, "two"), 1U);
  EXPECT_EQ(value("SELECT concat_ws('|', rev, indexed_at) FROM bsky.records"),
            "12|2026-01-02 01:00:00+00");

  std::vector<UnresolvedEvent> events;
  events.push_back(made_delete(kAuthor, "com.example.thing", "any:key", 13));
  const auto batch = resolved(std::move(events));
  const std::vector<RecordKey> keys = {
      {1, 1, 1}, {batch[0].actor_id, batch[0].collection_id, batch[0].rkey_number}};
  EXPECT_EQ(records_table().read_revs(*session_, keys),
            (std::vector<std::int64_t>{TableWriter::kNoRow, 12}));
  EXPECT_EQ(records_table().remove(*session_, pointers(batch), clock_.now(), effects_), 1U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.records"), "0");
}

TEST_F(TablesTest, a_batch_changes_only_what_is_older) {
  const auto batch_at = [&](std::uint64_t rev, int first, int last) {
    std::vector<UnresolvedEvent> events;
    for (int i = first; i < last; ++i) {
      events.push_back(made_write(kAuthor, "app.bsky.feed.post",
                                  atproto::Tid{static_cast<std::uint64_t>(i)}.to_string(), rev,
                                  made_post("rev " + std::to_string(rev))));
    }
    return resolved(std::move(events));
  };
  const auto first = batch_at(10, 0, 200);
  EXPECT_EQ(table_of(1)->upsert(*session_, pointers(first), clock_.now(), effects_), 200U);
  const auto second = batch_at(9, 100, 300);
  EXPECT_EQ(table_of(1)->upsert(*session_, pointers(second), clock_.now(), effects_), 100U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE text = 'rev 10'"), "200");
}

TEST_F(TablesTest, facets_and_images_are_taken_apart) {
  nlohmann::json post = made_post("@a #b c");
  const auto facet = [](int start, int end, nlohmann::json feature) {
    return nlohmann::json{{"index", {{"byteStart", start}, {"byteEnd", end}}},
                          {"features", nlohmann::json::array({std::move(feature)})}};
  };
  post["facets"] = {
      facet(0, 2, {{"$type", "app.bsky.richtext.facet#mention"}, {"did", "did:plc:a"}}),
      facet(3, 5, {{"$type", "app.bsky.richtext.facet#tag"}, {"tag", "b"}}),
      facet(6, 7, {{"$type", "app.bsky.richtext.facet#link"}, {"uri", "https://c.test"}}),
      facet(6, 7, {{"$type", "com.example.new#thing"}})};
  const std::string link = atproto::Cid::of(as_bytes("image"), atproto::Cid::kRaw).to_string();
  post["embed"] = {
      {"$type", "app.bsky.embed.images"},
      {"images", nlohmann::json::array({{{"alt", "a bird"},
                                         {"aspectRatio", {{"width", 4}, {"height", 3}}},
                                         {"image",
                                          {{"$type", "blob"},
                                           {"ref", {{"$link", link}}},
                                           {"mimeType", "image/png"},
                                           {"size", 99}}}}})}};
  upsert(made_write(kAuthor, "app.bsky.feed.post", "3l2s5xxv2ze2c", 10, post));
  EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', kind, value, byte_start, byte_end), ',' "
                  "ORDER BY byte_start) FROM bsky.post_facets_view"),
            "mention did:plc:a 0 2,tag b 3 5,link https://c.test 6 7");
  EXPECT_EQ(value("SELECT concat_ws('|', position, cid, alt, mime_type, size, width, height) "
                  "FROM bsky.post_images_view"),
            "1|" + link + "|a bird|image/png|99|4|3");
}

TEST_F(TablesTest, posts_sort_by_the_earlier_time) {
  nlohmann::json early = made_post("early");
  early["createdAt"] = "0001-01-01T00:00:00Z";
  nlohmann::json late = made_post("late");
  late["createdAt"] = "9999-01-01T00:00:00Z";
  upsert(made_write(kAuthor, "app.bsky.feed.post", "3l2s5xxv2ze2c", 10, early));
  upsert(made_write(kAuthor, "app.bsky.feed.post", "3l2s5xxv2ze2d", 10, late));
  EXPECT_EQ(value("SELECT string_agg(text || ' ' || sort_at, ',' ORDER BY sort_at) "
                  "FROM bsky.posts_view"),
            "early 0001-01-02 00:00:00+00,late 2026-01-02 00:00:00+00");
}

TEST_F(TablesTest, a_view_shows_references_as_uris) {
  const std::string key = "3l2s5xxv2ze2c";
  upsert(made_write("did:plc:fan", "app.bsky.feed.like", key, 5,
                    test::made_like("at://did:plc:author/app.bsky.feed.generator/hot")));
  EXPECT_EQ(value("SELECT concat_ws('|', subject_uri, via_uri IS NULL) FROM bsky.likes_view"),
            "at://did:plc:author/app.bsky.feed.generator/hot|t");
  upsert(made_write("did:plc:fan", "app.bsky.graph.follow", key, 5,
                    test::made_follow("did:plc:author")));
  EXPECT_EQ(value("SELECT subject_did FROM bsky.follows_view"), "did:plc:author");
  upsert(made_write(kAuthor, "app.bsky.feed.post", key, 10, made_post("found")));
  EXPECT_EQ(
      value("SELECT text FROM bsky.post('at://did:plc:author/app.bsky.feed.post/" + key + "')"),
      "found");
}

}  // namespace
}  // namespace skua::writer::tables_test
