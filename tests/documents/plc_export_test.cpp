#include "documents/plc_export.hpp"

#include <chrono>
#include <future>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/signing.hpp"
#include "documents/errc.hpp"
#include "documents/export_page.hpp"
#include "documents/made_export.hpp"
#include "documents/plc_server.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "transport/errc.hpp"
#include "transport/loopback_server.hpp"

namespace skua::documents::plc_export_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::http_reply;
using test::LoopbackServer;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const std::string kOther = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";

json operation(const std::string& handle = "alice.example") {
  return test::made_operation(handle);
}

std::string line(const std::string& did, int second, const json& operation,
                 bool nullified = false) {
  return test::made_line(did, std::chrono::seconds(second), operation, nullified);
}

class PlcImportTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// Imports lines from a stream.
  PlcImport::Counters imported(const std::vector<std::string>& lines, std::size_t batch = 10'000) {
    std::stringstream in;
    for (const auto& each : lines) in << each << '\n';
    PlcImport import(session(), clock_, batch);
    EXPECT_TRUE(import_lines(in, import, [](const auto&) {}));
    return import.metrics();
  }

  std::string handle_of(const std::string& did) {
    return value("SELECT handle FROM skua.identities WHERE did = '" + did + "'");
  }

  test::ManualClock clock_;
};

TEST_F(PlcImportTest, the_newest_operation_wins_whatever_the_order) {
  const std::vector<std::string> lines = {
      line(kDid, 1, operation("one.example")), line(kOther, 2, operation("other.example")),
      line(kDid, 9, operation("nine.example"), true), line(kDid, 5, operation("five.example")),
      line(kDid, 3, operation("three.example"))};
  for (const std::size_t batch : {1U, 2U, 100U}) {
    session().run("TRUNCATE skua.identities");
    const auto metrics = imported(lines, batch);
    EXPECT_EQ(metrics.lines, 5U);
    EXPECT_EQ(metrics.nullified, 1U);
    EXPECT_EQ(metrics.bad, 0U);
    EXPECT_EQ(handle_of(kDid), "five.example") << batch;
    EXPECT_EQ(handle_of(kOther), "other.example") << batch;
    EXPECT_EQ(value("SELECT count(*) FROM skua.identities"), "2");
  }
  // Again changes nothing but the time of the import.
  clock_.advance(1h);
  imported(lines);
  EXPECT_EQ(handle_of(kDid), "five.example");
  const auto rows = load_identities(session(), std::vector{kDid});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].fetched_at, clock_.now());
}

TEST_F(PlcImportTest, the_first_operation_tells_when_the_account_was_made) {
  json second = operation("second.example");
  second["prev"] = "bafyreifirst";
  json last = second;
  last["alsoKnownAs"] = {"at://last.example"};
  const auto created = [&](const std::string& did) {
    return value("SELECT extract(epoch FROM created_at)::int8 FROM skua.identities WHERE did = '" +
                 did + "'");
  };
  const std::vector<std::string> lines = {line(kDid, 1, operation()), line(kDid, 5, second),
                                          line(kDid, 9, last), line(kOther, 3, second)};
  for (const std::size_t batch : {1U, 2U, 100U}) {
    session().run("TRUNCATE skua.identities");
    imported(lines, batch);
    EXPECT_EQ(created(kDid), "1700000001") << batch;
    EXPECT_EQ(created(kOther), "") << "its first operation is not in the export";
    EXPECT_EQ(handle_of(kDid), "last.example") << batch;
  }
  // A document is newer than the operation, and does not tell.
  session().run("TRUNCATE skua.identities");
  save_identities(session(), {{kDid, test::p256_multikey(), "https://new.example",
                               "document.example", clock_.now(), std::nullopt}});
  imported(lines);
  EXPECT_EQ(handle_of(kDid), "document.example");
  EXPECT_EQ(created(kDid), "1700000001");
  save_identities(session(), {{kDid, test::p256_multikey(), "https://new.example", "later.example",
                               clock_.now() + 1s, std::nullopt}});
  EXPECT_EQ(created(kDid), "1700000001");
}

TEST_F(PlcImportTest, a_tombstone_ends_an_identity) {
  imported({line(kDid, 1, operation())});
  EXPECT_EQ(load_identities(session(), std::vector{kDid}).size(), 1U);
  imported({line(kDid, 2, {{"type", "plc_tombstone"}})});
  EXPECT_TRUE(load_identities(session(), std::vector{kDid}).empty());
  EXPECT_EQ(value("SELECT count(*) FROM skua.identities"), "1");
  // An older operation does not bring it back.
  imported({line(kDid, 1, operation())});
  EXPECT_TRUE(load_identities(session(), std::vector{kDid}).empty());
}

TEST_F(PlcImportTest, a_document_that_is_newer_stays) {
  const Timestamp made{std::chrono::seconds(1'700'000'005)};
  save_identities(session(), {{kDid, test::p256_multikey(), "https://new.example",
                               "document.example", made, std::nullopt}});
  imported({line(kDid, 4, operation("older.example"))});
  EXPECT_EQ(handle_of(kDid), "document.example");
  imported({line(kDid, 6, operation("newer.example"))});
  EXPECT_EQ(handle_of(kDid), "newer.example");
  // And a document that is fetched after the import replaces what was imported.
  save_identities(session(), {{kDid, test::p256_multikey(), "https://new.example",
                               "fetched.example", clock_.now() + 1s, std::nullopt}});
  EXPECT_EQ(handle_of(kDid), "fetched.example");
  EXPECT_EQ(value("SELECT operation_at FROM skua.identities"), "");
}

TEST_F(PlcImportTest, bad_lines_are_counted_and_the_others_go_through) {
  const auto metrics = imported({"{", std::string(200'000, 'x'), "", line(kDid, 1, operation())});
  EXPECT_EQ(metrics.lines, 3U);
  EXPECT_EQ(metrics.bad, 2U);
  EXPECT_EQ(metrics.written, 1U);
  EXPECT_EQ(handle_of(kDid), "alice.example");
  std::stringstream without_end(line(kOther, 1, operation()));
  PlcImport import(session(), clock_);
  EXPECT_TRUE(import_lines(without_end, import, [](const auto&) {}));
  EXPECT_EQ(import.metrics().written, 1U);
}

TEST_F(PlcImportTest, the_newest_operation_is_not_one_of_the_future) {
  const auto now = static_cast<int>(
      std::chrono::floor<std::chrono::seconds>(clock_.now() - test::kExportStart).count());
  const auto metrics = imported({line(kDid, 1, operation()), line(kOther, now + 301, operation()),
                                 line(kDid, now + 300, operation(), true)});
  EXPECT_EQ(metrics.newest, clock_.now() + 300s);
  EXPECT_EQ(metrics.written, 2U);
}

TEST_F(PlcImportTest, tells_that_a_batch_was_not_written) {
  session().run("ALTER TABLE skua.identities RENAME TO renamed_identities");
  PlcImport import(session(), clock_, 1);
  import.add(line(kDid, 1, operation()));  // goes on while it is written
  EXPECT_THROW(import.finish(), postgres::SqlError);
  EXPECT_EQ(import.metrics().written, 0U);
  EXPECT_TRUE(session().connected());
}

TEST_F(PlcImportTest, a_key_that_is_no_point_is_not_believed) {
  Bytes bytes(35, 0xff);  // beyond the field's prime
  bytes[0] = 0xe7;
  bytes[1] = 0x01;
  bytes[2] = 0x02;
  auto odd = operation();
  const auto key = "z" + atproto::encode_base58(bytes);
  ASSERT_TRUE(atproto::Multikey::parse(key));
  ASSERT_FALSE(atproto::VerifyingKey::from_multikey(*atproto::Multikey::parse(key)));
  odd["verificationMethods"]["atproto"] = "did:key:" + key;
  imported({line(kDid, 1, odd)});

  const std::vector<std::string> dids{kDid};
  const auto rows = load_identities(session(), dids);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(account_of(rows.front()), std::nullopt) << "its document will be requested";
}

TEST_F(PlcImportTest, keeps_what_came_before_the_stream_failed) {
  /// Gives a line, and then fails as a disk does.
  class Torn : public std::stringbuf {
   public:
    explicit Torn(const std::string& text) : std::stringbuf(text, std::ios::in) {}
    int_type underflow() override { throw std::runtime_error("input/output error"); }
  } buffer(line(kDid, 1, operation()) + "\n{\"did\":");
  std::istream in(&buffer);
  PlcImport import(session(), clock_);
  EXPECT_EQ(import_lines(in, import, [](const auto&) {}).error(), errc::export_unreadable);
  EXPECT_EQ(import.metrics().written, 1U);
  EXPECT_EQ(handle_of(kDid), "alice.example");
}

/// A directory that gives its operations a few at a time.
std::string page(const std::vector<std::string>& lines, const std::string& target,
                 int at_once = 2) {
  const auto at = target.find("after=");
  const auto after =
      at == std::string::npos ? Timestamp{} : parse_datetime(target.substr(at + 6))->instant;
  std::string body;
  int count = 0;
  for (const auto& each : lines) {
    if (*parse_export_line(each)->row.operation_at <= after) continue;
    body += each + '\n';
    if (++count == at_once) break;
  }
  return http_reply(200, body);
}

TEST_F(PlcImportTest, reads_a_directory_page_by_page) {
  std::vector<std::string> lines;
  for (int i = 0; i < 5; ++i) {
    lines.push_back(line("did:plc:" + std::string(24, static_cast<char>('a' + i)), i, operation()));
  }
  int failures = 3;
  std::vector<std::string> targets;
  LoopbackServer::Options options;
  options.http = [&](const LoopbackServer::HttpRequest& request) {
    if (failures > 0) {
      --failures;
      return failures == 1 ? http_reply(429, "", "Retry-After: 4\r\n") : http_reply(502, "");
    }
    targets.emplace_back(request.target());
    return page(lines, targets.back());
  };
  const LoopbackServer server(options);
  transport::HttpClient http({});
  std::vector<std::chrono::seconds> waits;
  ExportSource source;
  source.url = "http://127.0.0.1:" + std::to_string(server.port());
  source.wait = [&](std::chrono::seconds time, const ErrorCode&) { waits.push_back(time); };
  PlcImport import(session(), clock_);
  const auto done = import_pages(http, source, import, [](const auto&) {});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(value("SELECT count(*) FROM skua.identities"), "5");
  EXPECT_EQ(targets.front(), "/export?count=1000");
  EXPECT_EQ(waits, (std::vector<std::chrono::seconds>{2s, 4s, 8s}));

  source.after = Timestamp(std::chrono::seconds(1'700'000'002));
  session().run("TRUNCATE skua.identities");
  PlcImport later(session(), clock_);
  EXPECT_TRUE(import_pages(http, source, later, [](const auto&) {}));
  EXPECT_EQ(value("SELECT count(*) FROM skua.identities"), "2");
}

TEST_F(PlcImportTest, passes_an_instant_that_fills_a_page) {
  std::vector<std::string> lines(1000, line(kDid, 0, {{"type", "plc_tombstone"}}));
  lines.push_back(line(kOther, 1, operation("later.example")));
  LoopbackServer::Options options;
  options.http = [&](const LoopbackServer::HttpRequest& request) {
    return page(lines, std::string(request.target()), 1000);
  };
  const LoopbackServer server(options);
  transport::HttpClient http({});
  ExportSource source;
  source.url = "http://127.0.0.1:" + std::to_string(server.port());
  PlcImport import(session(), clock_);
  ASSERT_TRUE(import_pages(http, source, import, [](const auto&) {}));
  EXPECT_EQ(handle_of(kOther), "later.example");
}

TEST_F(PlcImportTest, gives_up_on_a_directory_that_gives_the_same_page_for_ever) {
  LoopbackServer::Options options;
  options.http = [](const LoopbackServer::HttpRequest&) {
    std::string body;
    for (int i = 0; i < 1000; ++i) body += line(kDid, 1, operation()) + '\n';
    return http_reply(200, body);
  };
  const LoopbackServer server(options);
  transport::HttpClient http({});
  ExportSource source;
  source.url = "http://127.0.0.1:" + std::to_string(server.port());
  PlcImport import(session(), clock_);
  EXPECT_EQ(import_pages(http, source, import, [](const auto&) {}).error(),
            errc::export_unreadable);
  EXPECT_EQ(handle_of(kDid), "alice.example");
}

TEST_F(PlcImportTest, keeps_what_came_before_the_directory_failed) {
  LoopbackServer::Options options;
  options.http = [](const LoopbackServer::HttpRequest& request) {
    if (request.target().find("after=") != std::string_view::npos) return http_reply(404, "");
    // The second line is too long.
    return http_reply(200, line(kDid, 1, operation()) + "\n" + std::string(100'000, ' ') + "{}\n");
  };
  const LoopbackServer server(options);
  transport::HttpClient http({});
  ExportSource source;
  source.url = "http://127.0.0.1:" + std::to_string(server.port());
  PlcImport import(session(), clock_);
  EXPECT_FALSE(import_pages(http, source, import, [](const auto&) {}));
  EXPECT_EQ(import.metrics().lines, 2U);
  EXPECT_EQ(import.metrics().bad, 1U);
  EXPECT_EQ(import.metrics().written, 1U);
  EXPECT_EQ(handle_of(kDid), "alice.example");
}

TEST_F(PlcImportTest, gives_up_on_a_directory_that_stays_away) {
  LoopbackServer::Options options;
  options.http = [](const LoopbackServer::HttpRequest& request) {
    return http_reply(request.target().starts_with("/gone") ? 404 : 500, "");
  };
  const LoopbackServer server(options);
  transport::HttpClient http({});
  int waits = 0;
  ExportSource source;
  source.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/export";
  source.wait = [&](std::chrono::seconds, const ErrorCode&) { ++waits; };
  PlcImport import(session(), clock_);
  EXPECT_EQ(import_pages(http, source, import, [](const auto&) {}).error(), errc::server_failed);
  EXPECT_EQ(waits, 7);
  source.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/gone";
  EXPECT_EQ(import_pages(http, source, import, [](const auto&) {}).error(), errc::server_failed);
  EXPECT_EQ(waits, 7);
  source.url = "plc.directory";
  EXPECT_EQ(import_pages(http, source, import, [](const auto&) {}).error(),
            transport::errc::url_http_scheme);
}

}  // namespace
}  // namespace skua::documents::plc_export_test
