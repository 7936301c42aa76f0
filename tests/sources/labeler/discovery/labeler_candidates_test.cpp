#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/labeler/discovery/labeler_choice.hpp"
#include "support/postgres.hpp"

namespace skua::sources::labeler_candidates_test {
namespace {

using testing::ElementsAre;

class LabelerCandidatesTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(LabelerCandidatesTest, are_active_accounts_by_their_number) {
  session().run(
      "INSERT INTO bsky.actors (id, did, active, indexed_at) OVERRIDING SYSTEM VALUE "
      "SELECT id, did, active, now() FROM (VALUES (7, 'did:plc:seven', true), "
      "(3, 'did:plc:three', true), (5, 'did:plc:five', false), (9, 'did:plc:nine', true), "
      "(1, 'did:plc:one', true)) AS v(id, did, active)");
  session().run(
      "INSERT INTO bsky.labelers (rkey, rev, indexed_at, actor_id, cid) "
      "SELECT rkey, 1, now(), actor_id, '\\x00' FROM (VALUES (1, 7), (2, 7), (1, 3), (1, 5), (1, "
      "9)) "
      "AS v(rkey, actor_id)");
  EXPECT_THAT(read_labeler_candidates(session(), 10),
              ElementsAre("did:plc:three", "did:plc:seven", "did:plc:nine"));
  EXPECT_THAT(read_labeler_candidates(session(), 2), ElementsAre("did:plc:three", "did:plc:seven"));
}

}  // namespace
}  // namespace skua::sources::labeler_candidates_test
