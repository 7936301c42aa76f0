#include "pipeline/signal_accounts.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.hpp"

namespace skua::pipeline::signal_accounts_test {
namespace {

using event::Operation;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kSignal = "test.garden.plot";

event::UnresolvedEvent change(std::string did, std::string collection,
                              Operation operation = Operation::Create) {
  event::RecordChange change;
  change.operation = operation;
  change.collection = std::move(collection);
  event::UnresolvedEvent event;
  event.did = std::move(did);
  event.body = std::move(change);
  return event;
}

class SignalAccountsTest : public testing::Test {
 protected:
  template <class... Events>
  void look_at(Events... events) {
    std::vector<event::UnresolvedEvent> all;
    (all.push_back(std::move(events)), ...);
    accounts_.look_at(all);
  }

  SignalAccounts accounts_{
      {.collections = {kSignal, "test.other.thing"}, .most_waiting = 2, .remembered = 4}};
};

TEST_F(SignalAccountsTest, an_account_with_a_record_is_given_once) {
  look_at(change("did:a", "app.bsky.feed.post"), change("did:b", kSignal),
          change("did:b", kSignal));
  look_at(change("did:b", "test.other.thing", Operation::Update));
  EXPECT_EQ(accounts_.metrics().waiting, 1U);
  EXPECT_THAT(accounts_.take(10), ElementsAre("did:b"));
  look_at(change("did:b", kSignal));
  EXPECT_THAT(accounts_.take(10), IsEmpty());
  EXPECT_EQ(accounts_.metrics().found, 1U);
}

TEST_F(SignalAccountsTest, a_delete_or_a_longer_name_is_no_signal) {
  look_at(change("did:a", kSignal, Operation::Delete), change("did:b", kSignal + "s"),
          change("did:c", "test.garden"));
  EXPECT_THAT(accounts_.take(10), IsEmpty());
}

TEST_F(SignalAccountsTest,
       one_for_which_there_is_no_room_is_counted_and_comes_with_its_next_record) {
  look_at(change("did:a", kSignal), change("did:b", kSignal), change("did:c", kSignal));
  EXPECT_EQ(accounts_.metrics().dropped, 1U);
  EXPECT_THAT(accounts_.take(1), ElementsAre("did:a"));
  look_at(change("did:c", kSignal));
  EXPECT_THAT(accounts_.take(10), ElementsAre("did:b", "did:c"));
}

TEST_F(SignalAccountsTest, what_is_remembered_is_bounded) {
  for (const char* did : {"did:a", "did:b", "did:c", "did:d", "did:e"}) {
    look_at(change(did, kSignal));
    EXPECT_THAT(accounts_.take(10), ElementsAre(did));
  }
  look_at(change("did:a", kSignal));
  EXPECT_THAT(accounts_.take(10), ElementsAre("did:a")) << "it was forgotten, which does no harm";
}

TEST_F(SignalAccountsTest, accounts_that_could_not_be_queued_wait_again_before_the_others) {
  look_at(change("did:a", kSignal));
  auto taken = accounts_.take(10);
  look_at(change("did:b", kSignal));
  accounts_.give_back(std::move(taken));
  EXPECT_EQ(accounts_.metrics().waiting, 2U);
  EXPECT_THAT(accounts_.take(10), ElementsAre("did:a", "did:b"));
}

TEST_F(SignalAccountsTest, a_message_without_the_name_needs_no_decoder) {
  EXPECT_TRUE(accounts_.may_be_in(as_bytes("a path test.garden.plot/3k of it")));
  EXPECT_FALSE(accounts_.may_be_in(as_bytes("a path test.garden.flower/3k of it")));
}

}  // namespace
}  // namespace skua::pipeline::signal_accounts_test
