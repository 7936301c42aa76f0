#include "sources/labeler/discovery/labeler_documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents/errc.hpp"

namespace skua::sources::labeler_documents_test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const LabelerDocuments::TimePoint kStart{seconds(1'000'000)};

documents::Account account_with(std::string labeler) {
  documents::Account account;
  account.labeler = std::move(labeler);
  return account;
}

class LabelerDocumentsTest : public testing::Test {
 protected:
  LabelerDocuments documents_{{.at_once = 2, .fresh_for = hours(1), .retry_after = seconds(30)}};
};

TEST_F(LabelerDocumentsTest, asks_for_a_few_at_a_time_and_for_each_once) {
  const std::vector<std::string> dids = {"did:a", "did:b", "did:c"};
  EXPECT_THAT(documents_.due(dids, kStart), ElementsAre("did:a", "did:b"));
  EXPECT_THAT(documents_.due(dids, kStart), IsEmpty());
  EXPECT_TRUE(documents_.is_waiting());
  documents_.answered("did:a", account_with("https://a.example"), kStart);
  EXPECT_THAT(documents_.due(dids, kStart), ElementsAre("did:c"));
  EXPECT_EQ(*documents_.origin_of("did:a"), "https://a.example");
  EXPECT_EQ(documents_.origin_of("did:b"), nullptr);
}

TEST_F(LabelerDocumentsTest, a_document_is_asked_for_again_when_it_is_old) {
  documents_.due({"did:a"}, kStart);
  documents_.answered("did:a", account_with("https://a.example"), kStart);
  EXPECT_THAT(documents_.due({"did:a"}, kStart + hours(1) - seconds(1)), IsEmpty());
  EXPECT_THAT(documents_.due({"did:a"}, kStart + hours(1)), ElementsAre("did:a"));
  documents_.answered("did:a", account_with(""), kStart + hours(1));
  EXPECT_EQ(*documents_.origin_of("did:a"), "");
}

TEST_F(LabelerDocumentsTest, a_failure_of_a_server_keeps_what_is_known_and_doubles_the_wait) {
  documents_.due({"did:a"}, kStart);
  documents_.answered("did:a", account_with("https://a.example"), kStart);
  auto now = kStart + hours(1);
  for (const auto wait : {seconds(30), seconds(60), seconds(120)}) {
    ASSERT_THAT(documents_.due({"did:a"}, now), ElementsAre("did:a"));
    documents_.answered("did:a", documents::errc::rate_limited, now);
    EXPECT_EQ(*documents_.origin_of("did:a"), "https://a.example");
    EXPECT_THAT(documents_.due({"did:a"}, now + wait - seconds(1)), IsEmpty());
    now += wait;
  }
}

TEST_F(LabelerDocumentsTest, an_account_without_a_document_has_no_labeler) {
  documents_.due({"did:a"}, kStart);
  documents_.answered("did:a", documents::errc::document_json, kStart);
  EXPECT_EQ(*documents_.origin_of("did:a"), "");
}

TEST_F(LabelerDocumentsTest, an_account_that_disappeared_is_forgotten) {
  documents_.due({"did:a", "did:b"}, kStart);
  documents_.answered("did:a", account_with("https://a.example"), kStart);
  documents_.due({"did:c"}, kStart);
  EXPECT_EQ(documents_.origin_of("did:a"), nullptr);
  documents_.answered("did:b", account_with("https://b.example"), kStart);
  documents_.due({"did:c"}, kStart);
  EXPECT_EQ(documents_.origin_of("did:b"), nullptr);
}

}  // namespace
}  // namespace skua::sources::labeler_documents_test
