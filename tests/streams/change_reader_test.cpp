#include "streams/change_reader.hpp"

#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "postgres/database_watch.hpp"
#include "postgres/runtime.hpp"
#include "streams/feed_database.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::streams::change_reader_test {
namespace {

/// A client that keeps its error.
class Client final : public FeedClient {
 public:
  explicit Client(std::int32_t timeline) : timeline_(timeline) {}

  StreamForm form() const override { return StreamForm::ServerSentEvents; }
  std::int32_t timeline() const override { return timeline_; }
  bool wants(const ChangeEvent& /*event*/) const override { return true; }
  std::int64_t next_position() const override { return 1; }
  void more() override { changes_.set_value(); }
  void take(ChangePage /*page*/) override {}
  void fail(const FeedError& error) override { error_.set_value(error.error); }

  std::string error() { return error_.get_future().get(); }
  void wait_for_changes() { changes_.get_future().wait(); }

 private:
  const std::int32_t timeline_;
  std::promise<std::string> error_;
  std::promise<void> changes_;
};

using ChangeReaderTest = test::FeedTest;

TEST_F(ChangeReaderTest,
       a_client_of_a_former_timeline_fails_although_it_was_added_after_the_change) {
  session().run("UPDATE skua.change_log_state SET timeline = 2");
  test::ManualClock clock;
  postgres::Runtime runtime(database_.url(), clock);
  FeedMetrics metrics;
  ChangeReader reader(runtime, {}, metrics);
  reader.start();
  const auto present = std::make_shared<Client>(2);
  reader.add(present);
  // The reader has begun.
  std::promise<void> opened;
  reader.open(StartLive{}, [&](const auto& /*answer*/) { opened.set_value(); });
  opened.get_future().wait();
  const auto late = std::make_shared<Client>(1);
  reader.add(late);
  EXPECT_EQ(late->error(), "TimelineChanged");
  append({like(kFirst)});
  present->wait_for_changes();
  reader.stop();
}

TEST_F(ChangeReaderTest, clients_stay_when_the_groups_of_the_database_change) {
  test::ManualClock clock;
  postgres::Runtime runtime(database_.url(), clock);
  FeedMetrics metrics;
  ChangeReader reader(runtime, {}, metrics);
  reader.start();
  const auto client = std::make_shared<Client>(1);
  reader.add(client);
  std::promise<void> opened;
  reader.open(StartLive{}, [&](const auto& /*answer*/) { opened.set_value(); });
  opened.get_future().wait();
  session().run("UPDATE skua.database_token SET groups_version = groups_version + 1");
  session().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND pid <> pg_backend_pid()");
  append({like(kFirst)});
  client->wait_for_changes();
  reader.stop();
  EXPECT_FALSE(postgres::database_watch().change(database_.url()));
}

}  // namespace
}  // namespace skua::streams::change_reader_test
