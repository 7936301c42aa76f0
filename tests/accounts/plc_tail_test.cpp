#include "accounts/plc_tail.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents/made_export.hpp"
#include "postgres/locks.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/cursor_store.hpp"
#include "transport/loopback_server.hpp"

namespace skua::accounts::plc_tail_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::http_reply;
using test::LoopbackServer;
using test::made_line;
using test::made_operation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const std::string kOther = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";

class PlcTailTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    LoopbackServer::Options options;
    options.http = [this](const LoopbackServer::HttpRequest& request) {
      const std::scoped_lock lock(mutex_);
      targets_.emplace_back(request.target());
      return reply_;
    };
    server_ = std::make_unique<LoopbackServer>(options);
  }

  std::unique_ptr<PlcTail> make_tail(std::chrono::milliseconds total_timeout = 30s) {
    return std::make_unique<PlcTail>(
        runtime_,
        PlcTail::Options{.plc_url = "http://127.0.0.1:" + std::to_string(server_->port()),
                         .total_timeout = total_timeout,
                         .max_page_bytes = 100'000},
        [this](const std::vector<std::string>& dids) {
          for (const auto& did : dids) changed_.push_back(did);
        });
  }

  /// The answer to all requests from now on.
  void reply_with(std::string reply) {
    const std::scoped_lock lock(mutex_);
    reply_ = std::move(reply);
  }
  void reply_with_lines(const std::vector<std::string>& lines) {
    std::string body;
    for (const auto& line : lines) body += line + '\n';
    reply_with(http_reply(200, body));
  }
  std::vector<std::string> targets() {
    const std::scoped_lock lock(mutex_);
    return targets_;
  }

  void begin_at(Timestamp newest) {
    tables::begin_plc_cursor(session(), {.newest = newest, .current_at = newest});
  }
  std::string handle_of(const std::string& did) {
    return value("SELECT coalesce(handle, 'none') FROM skua.identities WHERE did = '" + did + "'");
  }

  test::ManualClock clock_;
  postgres::Runtime runtime_{database_.url(), clock_};
  std::vector<std::string> changed_;

 private:
  std::mutex mutex_;
  std::string reply_ = http_reply(200, "");
  std::vector<std::string> targets_;
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(PlcTailTest, continues_behind_an_import_and_saves_rows_and_cursor) {
  begin_at(test::kExportStart);
  reply_with_lines({made_line(kDid, 1s, made_operation("new.example"), false, "bafya"),
                    made_line(kOther, 2s, {{"type", "plc_tombstone"}}, false, "bafyb")});
  const auto tail = make_tail();
  EXPECT_EQ(tail->look(), kTailInterval);
  EXPECT_EQ(handle_of(kDid), "new.example");
  EXPECT_EQ(handle_of(kOther), "none");
  EXPECT_EQ(tables::load_plc_cursor(session())->newest, test::kExportStart + 2s);
  EXPECT_THAT(changed_, testing::UnorderedElementsAre(kDid, kOther));
  EXPECT_EQ(tables::load_plc_cursor(session())->current_at, clock_.now());
  EXPECT_THAT(targets(), ElementsAre("/export?count=1000&after=2023-11-14T22:13:19.000000Z"));
  EXPECT_EQ(tail->metrics().operations, 2U);
}

TEST_F(PlcTailTest, a_restart_applies_nothing_again) {
  begin_at(test::kExportStart);
  reply_with_lines({made_line(kDid, 1s, made_operation("new.example"), false, "bafya")});
  make_tail()->look();
  const auto tail = make_tail();
  // The server ends the lock of the first one at some moment.
  while (tail->look() != kTailInterval) std::this_thread::yield();
  EXPECT_EQ(tail->metrics().operations, 0U);
  EXPECT_THAT(targets().back(), HasSubstr("after=2023-11-14T22:13:20.000000Z"));
  EXPECT_THAT(changed_, ElementsAre(kDid));
}

TEST_F(PlcTailTest, begins_now_without_a_cursor) {
  const auto tail = make_tail();
  EXPECT_EQ(tail->look(), kTailInterval);
  const auto cursor = tables::load_plc_cursor(session());
  ASSERT_TRUE(cursor);
  EXPECT_EQ(cursor->since, clock_.now());
  EXPECT_EQ(cursor->newest, clock_.now());
  EXPECT_THAT(targets(), ElementsAre("/export?count=1000&after=2026-01-01T23:59:59.000000Z"));
}

TEST_F(PlcTailTest, a_document_that_is_newer_stays) {
  begin_at(test::kExportStart);
  documents::save_identities(session(), {{.did = kDid,
                                          .signing_key = test::p256_multikey(),
                                          .pds = "https://pds.example",
                                          .handle = "document.example",
                                          .fetched_at = test::kExportStart + 5s}});
  reply_with_lines({made_line(kDid, 4s, made_operation("older.example"), false, "bafya")});
  const auto tail = make_tail();
  tail->look();
  EXPECT_EQ(handle_of(kDid), "document.example");
  reply_with_lines({made_line(kDid, 6s, made_operation("newer.example"), false, "bafyb")});
  tail->look();
  EXPECT_EQ(handle_of(kDid), "newer.example");
}

TEST_F(PlcTailTest, one_process_of_a_database_follows_the_directory) {
  begin_at(test::kExportStart);
  postgres::Session other(database_.url(), "skua plc tail pid 7 at here");
  EXPECT_TRUE(postgres::try_plc_lock(other));
  const auto tail = make_tail();
  EXPECT_EQ(tail->look(), 5s);
  EXPECT_THAT(targets(), IsEmpty());
  EXPECT_GT(tail->metrics().cursor_age, 0U) << "a standby knows the age";
  other.run("SELECT pg_advisory_unlock_all()");
  EXPECT_EQ(tail->look(), kTailInterval);
  EXPECT_EQ(targets().size(), 1U);
}

TEST_F(PlcTailTest, continues_where_an_import_has_moved_the_cursor) {
  begin_at(test::kExportStart);
  const auto tail = make_tail();
  tail->look();
  tables::add_to_plc_cursor(session(), std::nullopt, test::kExportStart + 1min);
  tail->look();
  EXPECT_THAT(targets().back(), HasSubstr("after=2023-11-14T22:14:19.000000Z"));
}

TEST_F(PlcTailTest, a_cursor_in_the_future_hides_nothing) {
  begin_at(clock_.now() + 1h);
  const auto tail = make_tail();
  EXPECT_EQ(tail->look(), kTailInterval);
  EXPECT_THAT(targets(), ElementsAre("/export?count=1000&after=2026-01-01T23:59:59.000000Z"));
  EXPECT_EQ(tables::load_plc_cursor(session())->newest, clock_.now());
}

TEST_F(PlcTailTest, failures_are_counted_and_waited_for) {
  begin_at(test::kExportStart);
  const auto tail = make_tail();
  reply_with(http_reply(500, ""));
  EXPECT_EQ(tail->look(), 2s);
  reply_with(http_reply(429, "", "Retry-After: 50\r\n"));
  EXPECT_EQ(tail->look(), 50s);
  reply_with(http_reply(200, std::string(200'000, 'x')));
  EXPECT_EQ(tail->look(), 8s) << "a page that is too large";
  reply_with(http_reply(200, "<html>\n"));
  EXPECT_EQ(tail->look(), 16s);
  EXPECT_EQ(tail->failures().count, 4U);
  EXPECT_EQ(tail->metrics().failures, 4U);
  EXPECT_EQ(tables::load_plc_cursor(session())->current_at, test::kExportStart);
  reply_with(http_reply(200, ""));
  EXPECT_EQ(tail->look(), kTailInterval);
  EXPECT_EQ(tail->failures().count, 0U);
  clock_.advance(90s);
  EXPECT_EQ(tail->metrics().cursor_age, 90U);
}

TEST_F(PlcTailTest, drops_are_counted_by_reason) {
  begin_at(test::kExportStart);
  reply_with_lines({"{", made_line(kDid, 1s, made_operation(), true, "bafya"),
                    made_line(kOther, std::chrono::hours(24 * 10'000), made_operation())});
  const auto tail = make_tail();
  tail->look();
  tail->look();
  const auto dropped = tail->metrics().dropped.read();
  EXPECT_THAT(std::get<CountsByLabel>(dropped.value),
              ElementsAre(testing::Pair("too_long", 0), testing::Pair("malformed", 1),
                          testing::Pair("future", 1), testing::Pair("not_requested", 0),
                          testing::Pair("nullified", 1)));
}

TEST_F(PlcTailTest, rows_that_are_not_written_do_not_move_the_cursor) {
  begin_at(test::kExportStart);
  reply_with_lines({made_line(kDid, 1s, made_operation(), false, "bafya")});
  session().run("ALTER TABLE skua.identities RENAME TO renamed_identities");
  const auto tail = make_tail();
  EXPECT_THROW(tail->look(), postgres::SqlError);
  EXPECT_EQ(tables::load_plc_cursor(session())->newest, test::kExportStart);
  session().run("ALTER TABLE skua.renamed_identities RENAME TO identities");
  EXPECT_EQ(tail->look(), kTailInterval);
  EXPECT_EQ(handle_of(kDid), "alice.example");
  EXPECT_EQ(tail->metrics().operations, 1U);
}

/// A directory that does not answer before `release`.
class SilentDirectory {
 public:
  SilentDirectory() {
    LoopbackServer::Options options;
    options.http = [this,
                    released = release_.get_future().share()](const LoopbackServer::HttpRequest&) {
      asked_.set_value();
      released.wait();
      return http_reply(200, "");
    };
    server_ = std::make_unique<LoopbackServer>(options);
  }
  ~SilentDirectory() {
    release_.set_value();
    server_.reset();
  }

  PlcTail::Options options(std::chrono::milliseconds timeout) {
    return {.plc_url = "http://127.0.0.1:" + std::to_string(server_->port()),
            .total_timeout = timeout};
  }
  void wait_until_asked() { asked_.get_future().wait(); }

 private:
  std::promise<void> asked_;
  std::promise<void> release_;
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(PlcTailTest, a_stop_does_not_wait_for_a_silent_directory) {
  begin_at(test::kExportStart);
  SilentDirectory silent;
  PlcTail tail(runtime_, silent.options(1h), nullptr);
  tail.start();
  silent.wait_until_asked();
  tail.stop();
  EXPECT_EQ(tail.failures().count, 0U);
}

TEST_F(PlcTailTest, a_silent_directory_is_a_failure) {
  begin_at(test::kExportStart);
  SilentDirectory silent;
  PlcTail tail(runtime_, silent.options(100ms), nullptr);
  EXPECT_EQ(tail.look(), 2s);
  EXPECT_EQ(tail.failures().count, 1U);
}

}  // namespace
}  // namespace skua::accounts::plc_tail_test
