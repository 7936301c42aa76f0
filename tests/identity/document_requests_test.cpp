#include "identity/document_requests.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "identity/errc.hpp"
#include "transport/errc.hpp"

namespace skua::identity::document_requests_test {
namespace {

using namespace std::chrono_literals;

std::string plc_did(char name) {
  return "did:plc:" + std::string(24, name);
}

class DocumentRequestsTest : public testing::Test {
 protected:
  std::optional<std::string> next() { return requests_->next(now_); }
  void finish(const std::string& did, const ErrorCode& error = errc::did_not_found) {
    requests_->finished(did, {error}, now_, 10ms, now_);
  }
  void open(const DocumentRequestsOptions& options) { requests_.emplace(options); }

  Timestamp now_{1'000h};
  std::optional<DocumentRequests> requests_;
};

TEST_F(DocumentRequestsTest, are_made_in_their_order_and_a_repeated_one_is_first) {
  open({});
  for (const char name : {'a', 'b', 'c'}) requests_->push(plc_did(name));
  EXPECT_EQ(next(), plc_did('a'));
  requests_->repeat(plc_did('a'));
  EXPECT_EQ(next(), plc_did('a'));
  EXPECT_EQ(next(), plc_did('b'));
  EXPECT_EQ(next(), plc_did('c'));
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(DocumentRequestsTest, to_the_directory_wait_for_its_rate) {
  open({.directory = {.at_first = 1, .at_least = 1}});
  requests_->push(plc_did('a'));
  requests_->push(plc_did('b'));
  EXPECT_EQ(next(), plc_did('a'));
  EXPECT_EQ(next(), std::nullopt);
  finish(plc_did('a'));
  EXPECT_TRUE(requests_->waits_for_time());
  now_ += 2s;
  EXPECT_EQ(next(), plc_did('b'));
  EXPECT_FALSE(requests_->waits_for_time());
}

TEST_F(DocumentRequestsTest, count_the_failures_since_the_last_answer_of_the_directory) {
  open({});
  const auto ask = [&](char name, const ErrorCode& error) {
    requests_->push(plc_did(name));
    now_ += 10s;
    ASSERT_EQ(next(), plc_did(name));
    finish(plc_did(name), error);
  };
  ask('a', errc::server_failed);
  ask('b', transport::errc::connect_failed);
  EXPECT_EQ(requests_->directory_failures(), 2U);
  // It answers, but not to us.
  ask('c', errc::rate_limited);
  EXPECT_EQ(requests_->directory_failures(), 2U);
  ask('d', errc::did_not_found);
  EXPECT_EQ(requests_->directory_failures(), 0U);
  ask('e', errc::server_failed);
  requests_->push("did:web:one.example");
  ASSERT_EQ(next(), "did:web:one.example");
  finish("did:web:one.example");
  EXPECT_EQ(requests_->directory_failures(), 1U);
}

TEST_F(DocumentRequestsTest, to_hosts_do_not_wait_for_the_directory) {
  open({.directory = {.under_way_at_most = 1}});
  requests_->push(plc_did('a'));
  requests_->push(plc_did('b'));
  requests_->push("did:web:one.example");
  EXPECT_EQ(next(), plc_did('a'));
  EXPECT_EQ(next(), "did:web:one.example");
  EXPECT_EQ(next(), std::nullopt) << "the directory has as many requests as it may have";
}

TEST_F(DocumentRequestsTest, of_one_site_are_bounded_and_delay_no_other_site) {
  open({.web_at_once = 3, .web_at_once_of_one_site = 1});
  requests_->push("did:web:a.slow.example");
  requests_->push("did:web:b.slow.example");
  requests_->push("did:web:other.test");
  EXPECT_EQ(next(), "did:web:a.slow.example");
  EXPECT_EQ(next(), "did:web:other.test");
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_FALSE(requests_->waits_for_time());
  finish("did:web:a.slow.example");
  EXPECT_EQ(next(), "did:web:b.slow.example");
}

}  // namespace
}  // namespace skua::identity::document_requests_test
