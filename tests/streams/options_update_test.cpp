#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "streams/change_filter.hpp"

namespace skua::streams::options_update_test {
namespace {

using Kind = OptionsUpdate::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

std::string update(const std::string& payload) {
  return R"({"type":"options_update","payload":)" + payload + "}";
}

TEST(OptionsUpdateTest, has_the_lists_and_the_limit) {
  const auto read = parse_options_update(update(
      R"({"wantedCollections":["a.b.c","d.*"],"wantedDids":["did:plc:a"],"maxMessageSizeBytes":7})"));
  EXPECT_EQ(read.kind, Kind::Update);
  EXPECT_THAT(read.collections, ElementsAre("a.b.c", "d.*"));
  EXPECT_THAT(read.dids, ElementsAre("did:plc:a"));
  EXPECT_EQ(read.max_bytes, 7);
}

TEST(OptionsUpdateTest, the_order_of_members_does_not_matter_and_the_last_of_equal_ones_counts) {
  const auto read = parse_options_update(
      R"({"payload":{"wantedDids":["did:plc:a"],"wantedDids":["did:plc:b"]},"type":"options_update"})");
  EXPECT_EQ(read.kind, Kind::Update);
  EXPECT_THAT(read.dids, ElementsAre("did:plc:b"));
}

TEST(OptionsUpdateTest, members_without_a_meaning_are_left_out) {
  const auto read = parse_options_update(
      R"({"wantedDids":["x"],"other":{"wantedDids":["y"],"type":"no"},"type":"options_update",)"
      R"("payload":{"more":["z"],"object":{"wantedDids":"v"},"wantedDids":null,"flag":true}})");
  EXPECT_EQ(read.kind, Kind::Update);
  EXPECT_THAT(read.dids, IsEmpty());
  EXPECT_THAT(read.collections, IsEmpty());
  EXPECT_EQ(read.max_bytes, 0);
}

struct Message {
  const char* name;
  std::string text;
  Kind kind;
};

class OptionsUpdateKind : public testing::TestWithParam<Message> {};

TEST_P(OptionsUpdateKind, is_known) {
  EXPECT_EQ(parse_options_update(GetParam().text).kind, GetParam().kind);
}

std::string texts(std::size_t count) {
  std::string list = "[\"x\"";
  for (std::size_t i = 1; i < count; ++i) list += ",\"x\"";
  return list + "]";
}

INSTANTIATE_TEST_SUITE_P(
    Table, OptionsUpdateKind,
    testing::Values(
        Message{"empty", "", Kind::Malformed}, Message{"no_json", "hello", Kind::Malformed},
        Message{"list", "[1]", Kind::Malformed}, Message{"no_type", "{}", Kind::Malformed},
        Message{"type_of_another_type", R"({"type":5,"payload":{}})", Kind::Malformed},
        Message{"cut", R"({"type":"options_update","payload":{"wantedDids":["a")", Kind::Malformed},
        Message{"more", R"({"type":"options_update","payload":{}} x)", Kind::Malformed},
        Message{"another_type", R"({"type":"hello","payload":[1,2]})", Kind::Other},
        Message{"no_payload", R"({"type":"options_update"})", Kind::NoPayload},
        Message{"null_payload", update("null"), Kind::NoPayload},
        Message{"payload_is_a_list", update("[]"), Kind::NoPayload},
        Message{"empty_payload", update("{}"), Kind::Update},
        Message{"list_of_numbers", update(R"({"wantedDids":["a",1]})"), Kind::BadList},
        Message{"list_of_nulls", update(R"({"wantedDids":[null]})"), Kind::BadList},
        Message{"no_list", update(R"({"wantedCollections":"a"})"), Kind::BadList},
        Message{"an_object", update(R"({"wantedCollections":{"a":"b"}})"), Kind::BadList},
        Message{"list_within_the_list", update(R"({"wantedCollections":[["a"]]})"), Kind::BadList},
        Message{"many", update(R"({"wantedDids":)" + texts(15'000) + "}"), Kind::Update},
        Message{"too_many", update(R"({"wantedDids":)" + texts(30'000) + "}"), Kind::BadList},
        // These took 20 to 80 ms of the thread of the sockets as a tree.
        Message{"deep", std::string(500'000, '['), Kind::Malformed},
        Message{"deep_payload", update(std::string(500'000, '[')), Kind::Malformed},
        Message{"wide", R"({"type":"options_update","x":)" + texts(100'000) + "}",
                Kind::Malformed}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace skua::streams::options_update_test
