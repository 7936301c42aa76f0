#include <string>

#include <gtest/gtest.h>

#include "atproto/cid.hpp"
#include "event/frame_builder.hpp"
#include "event/repository_chunks.hpp"

namespace skua::event::record_decoder_test {
namespace {

using test::json;

/// Reads a record of this collection; returns the error.
std::string read(const json& record, RecordChange& change) {
  const Bytes block = test::cbor_of(record);
  atproto::Document scratch;
  change.collection = "com.example.thing";
  change.rkey = "key";
  return read_record(atproto::Cid::of(block), block, scratch, change);
}

TEST(RecordDecoder, counts_the_values_of_a_record) {
  RecordChange change;
  EXPECT_EQ(read({{"a", 1}, {"b", {1, 2, {{"c", true}}}}}, change), "");
  // Two maps with their keys, a list, and four plain values.
  EXPECT_EQ(change.values, 10U);
}

TEST(RecordDecoder, a_record_has_a_bounded_number_of_values) {
  const auto with_values = [](int count, bool is_nested) {
    json list = json::array();
    for (int i = 0; i < count; ++i) list.push_back(is_nested ? json::array() : json(1));
    return json{{"values", list}};
  };
  for (const bool is_nested : {false, true}) {
    RecordChange change;
    EXPECT_EQ(read(with_values(19'997, is_nested), change), "");
    EXPECT_EQ(change.values, 20'000U);
    RecordChange larger;
    EXPECT_EQ(read(with_values(19'998, is_nested), larger),
              "the record has more than 20,000 values");
    EXPECT_FALSE(larger.block.empty()) << "the dead letter keeps its bytes";
  }
}

}  // namespace
}  // namespace skua::event::record_decoder_test
