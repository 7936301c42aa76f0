#include "sources/labeler/discovery/labeler_choice.hpp"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::sources::labeler_choice_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LabelerChoiceTest : public testing::Test {
 protected:
  /// An account whose document names this address.
  void account(std::string did, std::string origin) {
    candidates_.push_back({std::move(did), &origins_.emplace_back(std::move(origin))});
  }
  void unanswered(std::string did) { candidates_.push_back({std::move(did), nullptr}); }

  std::vector<std::string> chosen() {
    choice_ = choose_labelers(candidates_, named_, current_, limits_);
    std::vector<std::string> urls;
    for (const ChosenLabeler& labeler : choice_.labelers) urls.push_back(labeler.endpoint.url());
    return urls;
  }
  std::size_t left_out(LeftOut reason) const {
    return choice_.left_out.at(static_cast<std::size_t>(reason));
  }
  static std::string stream_of(const std::string& host) {
    return "wss://" + host + "/xrpc/com.atproto.label.subscribeLabels";
  }

  std::deque<std::string> origins_;
  std::vector<LabelerCandidate> candidates_;
  std::set<std::string> named_;
  std::set<std::string> current_;
  LabelerLimits limits_{.labelers = 2, .of_one_site = 2};
  LabelerChoice choice_;
};

TEST_F(LabelerChoiceTest, the_first_accounts_get_the_places) {
  account("did:a", "https://a.example");
  account("did:b", "https://b.example");
  account("did:c", "https://c.example");
  // example is the site of none of them: each has the two labels of its own.
  EXPECT_THAT(chosen(), ElementsAre(stream_of("a.example"), stream_of("b.example")));
  EXPECT_EQ(left_out(LeftOut::Limit), 1U);
}

TEST_F(LabelerChoiceTest, a_labeler_keeps_its_place) {
  account("did:a", "https://a.example");
  account("did:b", "https://b.example");
  account("did:c", "https://c.example");
  current_ = {"labeler:c.example"};
  EXPECT_THAT(chosen(), ElementsAre(stream_of("c.example"), stream_of("a.example")));
  EXPECT_EQ(left_out(LeftOut::Limit), 1U);
}

TEST_F(LabelerChoiceTest, a_site_has_only_some_places) {
  limits_ = {.labelers = 10, .of_one_site = 2};
  account("did:a", "https://1.evil.example");
  account("did:b", "https://2.evil.example");
  account("did:c", "https://3.evil.example");
  account("did:d", "https://honest.test");
  EXPECT_THAT(chosen(), ElementsAre(stream_of("1.evil.example"), stream_of("2.evil.example"),
                                    stream_of("honest.test")));
  EXPECT_EQ(left_out(LeftOut::SiteLimit), 1U);
}

TEST_F(LabelerChoiceTest, all_accounts_of_an_address_may_label_by_it) {
  account("did:evil", "https://labeler.example");
  account("did:real", "https://labeler.example/");
  EXPECT_THAT(chosen(), ElementsAre(stream_of("labeler.example")));
  EXPECT_THAT(choice_.labelers.front().dids, ElementsAre("did:evil", "did:real"));
}

TEST_F(LabelerChoiceTest, what_cannot_be_used_is_counted_by_reason) {
  unanswered("did:a");
  account("did:b", "");
  account("did:c", "http://plain.example");
  account("did:d", "https://named.example");
  named_ = {"labeler:named.example"};
  EXPECT_THAT(chosen(), IsEmpty());
  for (const LeftOut reason :
       {LeftOut::Unanswered, LeftOut::NoService, LeftOut::Insecure, LeftOut::Named}) {
    EXPECT_EQ(left_out(reason), 1U) << name_of(reason);
  }
}

TEST_F(LabelerChoiceTest, an_address_without_tls_needs_permission) {
  limits_.allow_insecure = true;
  account("did:a", "http://127.0.0.1:2000");
  EXPECT_THAT(chosen(), ElementsAre("ws://127.0.0.1:2000/xrpc/com.atproto.label.subscribeLabels"));
}

}  // namespace
}  // namespace skua::sources::labeler_choice_test
