#include <gtest/gtest.h>

#include "base/text.hpp"

namespace skua {
namespace {

TEST(CountText, one_is_singular_and_every_other_count_plural) {
  EXPECT_EQ(counted(1, "frame"), "1 frame");
  EXPECT_EQ(counted(0, "frame"), "0 frames");
  EXPECT_EQ(counted(2, "frame"), "2 frames");
  EXPECT_EQ(counted(1'000'000, "row"), "1000000 rows");
}

TEST(CountText, regular_plurals) {
  EXPECT_EQ(noun_for(2, "repository"), "repositories");
  EXPECT_EQ(noun_for(2, "identity"), "identities");
  EXPECT_EQ(noun_for(2, "dead letter"), "dead letters");
  EXPECT_EQ(noun_for(2, "failed attempt"), "failed attempts");
  EXPECT_EQ(noun_for(2, "index"), "indexes");
  EXPECT_EQ(noun_for(2, "batch"), "batches");
  EXPECT_EQ(noun_for(2, "key"), "keys");
  EXPECT_EQ(noun_for(1, "repository"), "repository");
}

}  // namespace
}  // namespace skua
