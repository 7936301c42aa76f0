// `/changes` and `/subscribe` with real sockets and a real database.

#include "streams/feed_server.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/leases/leased_consumers.hpp"
#include "http_server/socket_client.hpp"
#include "streams/feed_database.hpp"
#include "support/postgres.hpp"

namespace skua::streams::feed_server_test {
namespace {

using test::get;
using test::SocketClient;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kWebsocket =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A text frame of a client (RFC 6455, section 5.2), masked with zeros; shorter than 64 KiB.
std::string text_frame(std::string_view text) {
  std::string frame("\x81");
  if (text.size() < 126) {
    frame += static_cast<char>(0x80 | text.size());
  } else {
    frame += static_cast<char>(0x80 | 126);
    frame += static_cast<char>(text.size() >> 8);
    frame += static_cast<char>(text.size() & 0xFF);
  }
  return frame.append(4, '\0').append(text);
}

/// The values that follow a text in `all`, up to the next character of `ends`.
std::vector<std::string> values_after(const std::string& all, const std::string& before,
                                      const char* ends) {
  std::vector<std::string> values;
  for (auto at = all.find(before); at != std::string::npos; at = all.find(before, at + 1)) {
    const auto begin = at + before.size();
    values.push_back(all.substr(begin, all.find_first_of(ends, begin) - begin));
  }
  return values;
}

class FeedServerTest : public test::FeedTest {
 protected:
  void serve(ChangeReader::Options options = {}, http_server::Limits limits = {},
             const std::string& database_url = "", std::chrono::milliseconds longest_search = 22s) {
    runtime_ = std::make_unique<postgres::Runtime>(
        database_url.empty() ? database_.url() : database_url, system_clock());
    options.busy_pause = 5ms;
    options.idle_pause = 20ms;
    server_ = std::make_unique<FeedServer>(
        *runtime_,
        FeedServer::Options{
            .reader = options, .server = {.limits = limits}, .longest_search = longest_search},
        metrics_);
    server_->start();
  }
  /// Pages of this many changes, and recent changes for less than the tests' logs.
  static ChangeReader::Options small_options(std::size_t changes) {
    ChangeReader::Options options;
    options.recent_bytes = 3'000;
    options.page.changes = changes;
    return options;
  }
  void TearDown() override {
    if (server_) server_->stop();
  }

  std::unique_ptr<SocketClient> client(const std::string& target, const std::string& headers = {}) {
    auto client = std::make_unique<SocketClient>(server_->port());
    client->send(get(target, headers));
    return client;
  }
  std::string answer(const std::string& target, const std::string& headers = {}) {
    return client(target, headers)->read_all();
  }
  /// The answer's first line for a target.
  std::string status(const std::string& target, const std::string& headers = {}) {
    const auto text = answer(target, headers);
    return text.substr(0, text.find("\r\n"));
  }
  /// A client that is connected: it got its first heartbeat.
  std::unique_ptr<SocketClient> events(const std::string& target, const std::string& headers = {}) {
    auto found = client(target, headers);
    EXPECT_TRUE(found->read_until("heartbeat")) << found->text();
    return found;
  }
  /// The positions of the changes that a client of server-sent events received until the one with
  /// this position.
  static std::string positions(SocketClient& client, const std::string& last) {
    EXPECT_TRUE(client.read_until("data: {\"pos\":\"" + last + "\",\"time\"")) << client.text();
    std::string text;
    for (const auto& value : values_after(client.text(), "data: {\"pos\":\"", "\"")) {
      // Heartbeats have a position too.
      if (client.text().find("{\"pos\":\"" + value + "\",\"time\"") == std::string::npos) continue;
      if (!text.ends_with(value + " ")) text += value + " ";
      if (value == last) break;
    }
    return text;
  }

  FeedMetrics metrics_;
  std::unique_ptr<postgres::Runtime> runtime_;
  std::unique_ptr<FeedServer> server_;
};

TEST_F(FeedServerTest, a_live_client_gets_new_changes_only) {
  add_likes(0, 3);
  serve();
  const auto live = events("/changes");
  EXPECT_THAT(live->text(), HasSubstr("id: 1-3\n")) << "the heartbeat";
  add_likes(10, 2);
  EXPECT_EQ(positions(*live, "1-5"), "1-4 1-5 ");
  EXPECT_THAT(live->text(), HasSubstr(R"("record":{)"));
  const auto form = static_cast<std::size_t>(StreamForm::ServerSentEvents);
  EXPECT_EQ(metrics_.streams[form], 1U);
  EXPECT_EQ(metrics_.stream_changes[form], 2U);
  server_.reset();
  EXPECT_EQ(metrics_.streams[form], 0U);
}

TEST_F(FeedServerTest, each_change_comes_once_and_in_order_from_any_cursor) {
  add_likes(0, 20);
  serve(small_options(3));
  const auto oldest = events("/changes?cursor=oldest");
  const auto middle = events("/changes?cursor=1-15");
  const auto resumed = events("/changes?cursor=oldest", "Last-Event-ID: 1-18\r\n");
  add_likes(20, 5);
  std::string all;
  for (int i = 1; i <= 25; ++i) all += "1-" + std::to_string(i) + " ";
  EXPECT_EQ(positions(*oldest, "1-25"), all);
  EXPECT_EQ(positions(*middle, "1-25"), all.substr(all.find("1-16 ")));
  EXPECT_EQ(positions(*resumed, "1-25"), all.substr(all.find("1-19 ")));
}

TEST_F(FeedServerTest, a_websocket_gets_the_same_json) {
  add_likes(0, 2);
  serve();
  const auto socket = events("/changes?cursor=1-0", kWebsocket);
  ASSERT_TRUE(socket->read_until("{\"pos\":\"1-2\",\"time\"")) << socket->text();
  const auto sse = events("/changes?cursor=1-1");
  ASSERT_TRUE(sse->read_until("{\"pos\":\"1-2\",\"time\"")) << sse->text();
  ASSERT_TRUE(sse->read_until("\n\n"));
  const auto change = values_after(sse->text(), "data: {\"pos\":\"1-2\",\"time\"", "\n");
  EXPECT_THAT(socket->text(), HasSubstr(change.at(0)));
}

TEST_F(FeedServerTest, the_filter_selects) {
  serve();
  const auto creates = events("/changes?op=create&collection=app.bsky.feed.*&did=did:plc:1");
  const auto accounts = events("/changes?kind=account&kind=bootstrap");
  tables::Change removed = like(0);
  removed.operation = tables::ChangeOperation::Delete;
  removed.cid.reset();
  tables::Change follow = like(1);
  follow.collection_id = 7;
  append({removed, follow, like(2, 1, 2)});
  append({{.kind = tables::ChangeKind::Account, .actor_id = 5}});
  append({like(3)});
  append({{.kind = tables::ChangeKind::Bootstrap}});
  EXPECT_EQ(positions(*creates, "1-6"), "1-5 1-6 ");
  EXPECT_EQ(positions(*accounts, "1-6"), "1-4 1-6 ");
}

/// The records of recent changes that no client wanted were not read.
TEST_F(FeedServerTest, a_client_that_wants_more_than_those_before_it_gets_everything) {
  serve();
  const auto few = events("/changes?did=did:plc:1");
  for (int i = 0; i < 6; ++i) {
    store_like(i, 1, i % 2 + 1);
    append({like(i, 1, i % 2 + 1)});
  }
  EXPECT_EQ(positions(*few, "1-5"), "1-1 1-3 1-5 ");
  const auto all = events("/changes?cursor=1-0");
  EXPECT_EQ(positions(*all, "1-6"), "1-1 1-2 1-3 1-4 1-5 1-6 ");
  ASSERT_TRUE(all->read_until("\n\n"));
  EXPECT_EQ(values_after(all->text(), R"("record":{)", "}").size(), 6U) << all->text();
  const auto others = events("/changes?cursor=1-0&did=did:plc:2", kWebsocket);
  EXPECT_TRUE(others->read_until("{\"pos\":\"1-6\",\"time\"")) << others->text();
  EXPECT_THAT(others->text(), Not(HasSubstr("{\"pos\":\"1-5\",\"time\"")));
}

TEST_F(FeedServerTest, heartbeats_advance_while_a_filter_passes_nothing) {
  serve({}, {.heartbeat = 20ms});
  const auto nothing = events("/changes?did=did:plc:9");
  add_likes(0, 3);
  EXPECT_TRUE(nothing->read_until("id: 1-3\n"));
  EXPECT_EQ(nothing->text().find("\"time\""), std::string::npos);
}

TEST_F(FeedServerTest, requests_that_are_malformed_are_refused_with_the_reason) {
  serve();
  for (const char* target : {"/changes?cursor=1", "/changes?cursor=now", "/changes?colection=a.b.c",
                             "/changes?collection=posts", "/changes?did=alice.test",
                             "/changes?op=insert", "/changes?kind=post"}) {
    EXPECT_EQ(status(target), "HTTP/1.1 400 Bad Request") << target;
  }
  std::string many = "/changes?";
  for (int i = 0; i <= 1000; ++i) many += "did=did:a:b&";
  EXPECT_THAT(answer(many), HasSubstr("more than 1000 accounts"));
  EXPECT_THAT(answer("/changes", "Accept: application/json\r\n"), HasSubstr("406 Not Acceptable"));
}

TEST_F(FeedServerTest, a_cursor_outside_of_the_log_is_gone) {
  add_likes(0, 5);
  session().run("DELETE FROM skua.change_log WHERE pos < 4");
  serve();
  EXPECT_THAT(answer("/changes?cursor=1-2"), HasSubstr("CursorTooOld"));
  EXPECT_THAT(answer("/changes?cursor=1-6"), HasSubstr("CursorInFuture"));
  EXPECT_THAT(answer("/changes?cursor=2-4"), HasSubstr("TimelineChanged"));
  EXPECT_EQ(status("/changes?cursor=2-4", kWebsocket), "HTTP/1.1 410 Gone");
  EXPECT_EQ(positions(*events("/changes?cursor=1-3"), "1-5"), "1-4 1-5 ");
  EXPECT_THAT(events("/changes?cursor=1-5")->text(), HasSubstr("id: 1-5\n"));
}

TEST_F(FeedServerTest, a_new_timeline_ends_all_clients) {
  add_likes(0, 2);
  serve();
  const auto sse = events("/changes");
  const auto websocket = events("/changes", kWebsocket);
  session().run("UPDATE skua.change_log_state SET timeline = 2");
  EXPECT_THAT(sse->read_all(), HasSubstr("event: error\ndata: {\"error\":\"TimelineChanged\""));
  EXPECT_TRUE(websocket->read_until("TimelineChanged"));
  add_likes(10, 1);
  EXPECT_EQ(positions(*events("/changes?cursor=2-2"), "2-3"), "2-3 ");
}

TEST_F(FeedServerTest, a_client_whose_changes_are_dropped_gets_the_reason) {
  add_likes(0, 100);
  serve(small_options(2));
  // It reads nothing at first. The server sends what fits into the buffers, so the records are
  // long.
  session().run("UPDATE bsky.likes SET extra = jsonb_build_object('x', repeat('x', 200000))");
  SocketClient slow(server_->port(), 4096);
  slow.send(get("/changes?cursor=oldest"));
  ASSERT_TRUE(slow.read_until("\"pos\":\"1-1\""));
  session().run("DELETE FROM skua.change_log WHERE pos < 100");
  EXPECT_THAT(slow.read_all(), HasSubstr("event: error\ndata: {\"error\":\"CursorTooOld\""));
}

TEST_F(FeedServerTest, a_reader_does_not_keep_a_partition_from_being_dropped) {
  add_likes(0, 1);
  serve();
  const auto live = events("/changes");
  session().run("SET lock_timeout = '2s'; LOCK TABLE skua.change_log IN ACCESS EXCLUSIVE MODE");
  add_likes(10, 1);
  EXPECT_EQ(positions(*live, "1-2"), "1-2 ");
}

TEST_F(FeedServerTest, without_a_database_a_client_is_told_so) {
  // Nothing listens on this port.
  serve({}, {}, "postgresql://127.0.0.1:1/none");
  EXPECT_THAT(answer("/changes"), HasSubstr("\"error\":\"DatabaseUnavailable\""));
}

TEST_F(FeedServerTest, a_session_that_breaks_is_replaced) {
  add_likes(0, 1);
  serve();
  const auto live = events("/changes");
  session().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
      "WHERE application_name LIKE 'skua serve%' AND datname = current_database()");
  add_likes(10, 1);
  EXPECT_EQ(positions(*live, "1-2"), "1-2 ");
}

TEST_F(FeedServerTest, errors_of_clients_are_counted) {
  add_likes(0, 1);
  serve({}, {.connections = 2});
  answer("/changes?cursor=1");
  answer("/subscribe");
  answer("/changes?cursor=1-7");
  answer("/changes?cursor=1-7", kWebsocket);
  while (server_->clients() > 0) std::this_thread::yield();
  const auto first = events("/changes");
  const auto second = events("/changes");
  answer("/changes");
  session().run("UPDATE skua.change_log_state SET timeline = 2");
  first->read_all();
  second->read_all();
  server_->stop();
  std::string text;
  const MetricValue errors = metrics_.errors.read();
  for (const auto& [error, count] : std::get<CountsByLabel>(errors.value)) {
    if (count > 0) text += error + " " + std::to_string(count) + " ";
  }
  EXPECT_EQ(text,
            "InvalidRequest 1 UpgradeRequired 1 CursorInFuture 2 TimelineChanged 2 "
            "TooManyConnections 1 ");
}

TEST_F(FeedServerTest, measures_the_slowest_stream_of_each_form) {
  add_likes(0, 100);
  serve(small_options(2));
  session().run("UPDATE bsky.likes SET extra = jsonb_build_object('x', repeat('x', 200000))");
  SocketClient slow(server_->port(), 4096);
  slow.send(get("/changes?cursor=oldest"));
  ASSERT_TRUE(slow.read_until("\"pos\":\"1-1\""));
  const auto live = events("/changes", kWebsocket);
  add_likes(100, 1);
  ASSERT_TRUE(live->read_until("1-101"));
  const auto& behind = metrics_.stream_behind;
  const Count& sse = behind[static_cast<std::size_t>(StreamForm::ServerSentEvents)];
  const Count& websocket = behind[static_cast<std::size_t>(StreamForm::Websocket)];
  while (sse < 50U || websocket > 0U) std::this_thread::yield();
  slow.close();
  while (sse > 0U) std::this_thread::yield();
}

class JetstreamTest : public FeedServerTest {
 protected:
  /// A connected client; `/subscribe` sends nothing by itself.
  std::unique_ptr<SocketClient> subscriber(const std::string& query) {
    auto found = client("/subscribe" + query, kWebsocket);
    EXPECT_TRUE(found->read_until("\r\n\r\n"));
    EXPECT_THAT(found->text(), HasSubstr("101 Switching Protocols"));
    return found;
  }
  static std::vector<std::string> times(const SocketClient& client) {
    return values_after(client.text(), "\"time_us\":", ",");
  }
};

TEST_F(JetstreamTest, sends_commits_identities_and_accounts) {
  serve();
  const auto live = subscriber("");
  store_like(0);
  append({like(0), like(1), {.kind = tables::ChangeKind::Bootstrap}});
  append({{.kind = tables::ChangeKind::Handle, .actor_id = 2},
          {.kind = tables::ChangeKind::Account, .actor_id = 3}});
  ASSERT_TRUE(live->read_until(R"("kind":"account")"));
  const auto& text = live->text();
  EXPECT_EQ(values_after(text, "\"kind\":\"", "\""),
            (std::vector<std::string>{"commit", "identity", "account"}))
      << "neither the superseded record nor the bootstrap";
  EXPECT_THAT(text, HasSubstr(R"("operation":"create","collection":"app.bsky.feed.like")"));
}

TEST_F(JetstreamTest, times_grow_and_a_cursor_resumes_with_its_own_message) {
  add_likes(0, 30);
  serve(small_options(4));
  const auto all = subscriber("?cursor=0");
  ASSERT_TRUE(all->read_until("2222222x\"")) << "the last one";
  const auto expected = times(*all);
  ASSERT_EQ(expected.size(), 30U);
  for (std::size_t i = 1; i < expected.size(); ++i) EXPECT_LT(expected[i - 1], expected[i]);
  const auto resumed = subscriber("?cursor=" + expected[11]);
  ASSERT_TRUE(resumed->read_until("2222222x\""));
  EXPECT_EQ(times(*resumed), std::vector(expected.begin() + 11, expected.end()));
}

TEST_F(JetstreamTest, a_block_at_one_time_resumes_exactly) {
  std::vector<tables::Change> changes;
  changes.reserve(10);
  for (int i = 0; i < 10; ++i) {
    store_like(i);
    changes.push_back(like(i));
  }
  append(changes);
  append({like(0)});
  session().run("UPDATE skua.change_log SET at = '2026-01-01'");
  serve();
  const auto all = subscriber("?cursor=1");
  ASSERT_TRUE(all->read_until("\"time_us\":1767225600000010,"));
  const auto resumed = subscriber("?cursor=1767225600000010");
  ASSERT_TRUE(resumed->read_until("\"time_us\":1767225600000010,"));
  EXPECT_EQ(times(*resumed).size(), 1U);
}

TEST_F(JetstreamTest, a_time_in_the_future_is_live) {
  add_likes(0, 3);
  serve();
  const auto live = subscriber("?cursor=99999999999999999");
  store_like(10);
  append({like(10)});
  ASSERT_TRUE(live->read_until("\"commit\""));
  EXPECT_EQ(times(*live).size(), 1U);
}

TEST_F(JetstreamTest, the_options_of_the_query_and_of_a_message) {
  serve();
  const auto one = subscriber("?wantedDids=did:plc:1&wantedCollections=app.bsky.feed.like");
  const auto waits = subscriber("?requireHello=true&cursor=0");
  const auto small = subscriber("?maxMessageSizeBytes=300");
  store_like(0, 1, 2);
  store_like(1, 1, 1);
  append({like(0, 1, 2), like(1, 1, 1)});
  append({{.kind = tables::ChangeKind::Account, .actor_id = 3}});
  ASSERT_TRUE(one->read_until("\"did\":\"did:plc:1\""));
  EXPECT_THAT(one->text(), Not(HasSubstr("\"did\":\"did:plc:2\",\"time_us\"")));
  waits->send(text_frame(
      R"({"type":"options_update","payload":{"wantedDids":["did:plc:2"],"wantedCollections":[]}})"));
  ASSERT_TRUE(waits->read_until("\"did\":\"did:plc:2\",\"time_us\""));
  const std::string third = "\"did\":\"did:plc:3\",\"time_us\"";
  one->send(text_frame(R"({"type":"options_update","payload":{"wantedDids":["did:plc:3"]}})"));
  // The changes before this one have been looked at.
  ASSERT_TRUE(small->read_until(R"("kind":"account")"));
  small->send(text_frame(R"({"type":"options_update","payload":{}})"));
  store_like(2, 1, 3);
  // A message and a change have no order: repeat the change.
  do append({like(2, 1, 3)});
  while (!one->read_until(third, 50ms));
  do append({like(2, 1, 3)});
  while (!small->read_until(third, 50ms));
  EXPECT_THAT(small->text(), Not(HasSubstr("\"did\":\"did:plc:1\""))) << "it was too long";
}

TEST_F(JetstreamTest, what_is_not_supported_is_refused) {
  serve();
  EXPECT_EQ(status("/subscribe"), "HTTP/1.1 426 Upgrade Required");
  for (const char* query : {"?compress=true", "?cursor=x", "?cursor=-1", "?wantedDids=alice",
                            "?wantedCollections=posts", "?cursor=99999999999999999999"}) {
    EXPECT_EQ(status(std::string("/subscribe") + query, kWebsocket), "HTTP/1.1 400 Bad Request")
        << query;
  }
}

TEST_F(JetstreamTest, a_malformed_message_ends_the_stream) {
  serve();
  for (const char* message :
       {"hello", "[]", R"({"type":1})", R"({"type":"options_update"})",
        R"({"type":"options_update","payload":{"wantedDids":"did:plc:a"}})",
        R"({"type":"options_update","payload":{"wantedCollections":["posts"]}})"}) {
    const auto talking = subscriber("");
    talking->send(text_frame(message));
    EXPECT_TRUE(talking->read_until("Invalid")) << message;
  }
  const auto other = subscriber("");
  other->send(text_frame(R"({"type":"something else"})"));
  store_like(0);
  append({like(0)});
  EXPECT_TRUE(other->read_until("\"commit\""));
}

TEST_F(FeedServerTest, a_fetch_that_finds_nothing_in_time_says_that_the_log_has_more) {
  serve({}, {}, "", 0ms);
  consumers::add_leased_consumer(session(), {.name = "orders",
                                             .filter = R"({"topics":["orders"]})",
                                             .secret = token_hash("token"),
                                             .lanes = 2});
  add_likes(0, 3);
  const std::string body = R"({"consumer":"orders"})";
  const auto fetch = [&] {
    SocketClient client(server_->port());
    client.send(
        "POST /pull/fetch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token\r\n"
        "Content-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    const std::string answer = client.read_all();
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  // Each search reads one lane to the end.
  EXPECT_EQ(fetch(), R"({"changes":[],"more":true})");
  EXPECT_EQ(fetch(), R"({"changes":[],"more":true})");
  EXPECT_EQ(fetch(), R"({"changes":[]})");
}

}  // namespace
}  // namespace skua::streams::feed_server_test
