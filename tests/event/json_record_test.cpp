#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/data_model.hpp"
#include "event/errc.hpp"
#include "event/json_event.hpp"
#include "records/record.hpp"
#include "repo/dag_cbor.hpp"
#include "support/json_vectors.hpp"

namespace skua::event::json_record_test {
namespace {

using nlohmann::json;
using test::JsonVector;

const std::string kCid = "bafyreid27zk7lbis4zw5fz4podbvbs4fc5ivwji3dmrwa6zggnj4bnd57u";

TEST(JsonRecordTest, keys_stand_in_dag_cbor_order) {
  const auto cbor = json_to_dag_cbor({{"aa", 1}, {"b", 2}, {"", 3}});
  ASSERT_TRUE(cbor);
  EXPECT_EQ(*cbor, (Bytes{0xa3, 0x60, 0x03, 0x61, 'b', 0x02, 0x62, 'a', 'a', 0x01}));
}

TEST(JsonRecordTest, links_and_bytes_are_no_maps) {
  const auto cbor = json_to_dag_cbor({{"l", {{"$link", kCid}}}, {"b", {{"$bytes", "AQI="}}}});
  ASSERT_TRUE(cbor);
  atproto::Document document;
  ASSERT_TRUE(repo::read_dag_cbor(*cbor, document));
  EXPECT_EQ(document.root().find("l")->link().to_string(), kCid);
  EXPECT_EQ(
      Bytes(document.root().find("b")->bytes().begin(), document.root().find("b")->bytes().end()),
      (Bytes{1, 2}));
}

TEST(JsonRecordTest, binary_values_are_bytes_wherever_they_stand) {
  const json binary = json::binary({1, 2});
  const auto cbor = json_to_dag_cbor({{"b", binary}, {"l", {{{"b", binary}}}}});
  ASSERT_TRUE(cbor);
  EXPECT_EQ(*cbor, *json_to_dag_cbor(
                       json::parse(R"({"b":{"$bytes":"AQI"},"l":[{"b":{"$bytes":"AQI"}}]})")));
}

struct Wrong {
  std::string name;
  std::string text;
  errc error;
};

class WrongJson : public testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(
    Values, WrongJson,
    testing::Values(
        Wrong{"no_cid", R"({"$link":"bafy"})", errc::json_bad_link},
        Wrong{"link_of_a_number", R"({"$link":7})", errc::json_bad_link},
        Wrong{"link_with_company", R"({"$link":")" + kCid + R"(","a":1})", errc::json_bad_link},
        Wrong{"no_base64", R"({"$bytes":"A!"})", errc::json_bad_bytes},
        Wrong{"base64_of_no_length", R"({"$bytes":"AAAAA"})", errc::json_bad_bytes},
        Wrong{"bytes_of_a_list", R"({"$bytes":[1]})", errc::json_bad_bytes},
        Wrong{"bytes_with_company", R"({"$bytes":"AA","a":1})", errc::json_bad_bytes},
        Wrong{"huge_integer", "9223372036854775808", errc::json_integer_range},
        Wrong{"too_deep", std::string(200, '[') + std::string(200, ']'), errc::json_too_deep}),
    [](const auto& test) { return test.param.name; });

TEST_P(WrongJson, is_an_error_wherever_it_stands) {
  for (const std::string& text : {GetParam().text, R"({"a":[)" + GetParam().text + "]}"}) {
    const auto cbor = json_to_dag_cbor(json::parse(text));
    ASSERT_FALSE(cbor) << text;
    EXPECT_EQ(cbor.error(), make_error_code(GetParam().error));
  }
}

TEST(JsonRecordTest, numbers_without_a_fraction_are_integers) {
  const auto cbor =
      json_to_dag_cbor(json::parse("[123.0, -1.0, 1e3, -0.0, -9223372036854775808.0]"));
  ASSERT_TRUE(cbor);
  EXPECT_EQ(*cbor, *json_to_dag_cbor(json::parse("[123, -1, 1000, 0, -9223372036854775808]")));
  for (const char* text : {"1.5", "-0.5", "1e-9", "9223372036854775808.0", "1e300"}) {
    const auto floating = json_to_dag_cbor(json::parse(text));
    ASSERT_TRUE(floating) << text;
    EXPECT_EQ(floating->front(), 0xfb) << text;
  }
}

/// A record in JSON on its way to the database: JSON, DAG-CBOR, decoded.
struct Kept {
  Bytes block;
  atproto::Document document;
  records::Decoded decoded;
};

void keep(std::string_view collection, const json& record, Kept& out) {
  auto cbor = json_to_dag_cbor(record);
  ASSERT_TRUE(cbor) << cbor.error().message();
  out.block = std::move(*cbor);
  const auto read = repo::read_dag_cbor(out.block, out.document, {.allow_floats = true});
  ASSERT_TRUE(read) << read.error().message();
  out.decoded = records::decode_record(collection, "self", out.document);
}

class InteropFixture : public testing::TestWithParam<JsonVector> {};

TEST_P(InteropFixture, has_its_bytes_its_cid_and_its_json) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const json& record = GetParam().entry.at("json");
  Kept kept;
  ASSERT_NO_FATAL_FAILURE(keep("com.example.any", record, kept));
  EXPECT_EQ(kept.block, test::from_base64(GetParam().text("cbor_base64")));
  EXPECT_EQ(atproto::Cid::of(kept.block).to_string(), GetParam().text("cid"));
  EXPECT_FALSE(kept.decoded.invalid_reason);
  EXPECT_EQ(json::parse(kept.decoded.json), record);
}

INSTANTIATE_TEST_SUITE_P(
    DataModel, InteropFixture,
    testing::ValuesIn(test::shared_entries("interop/data-model/data-model-fixtures.json", "cid")),
    test::NameOfEntry());

class InteropValid : public testing::TestWithParam<JsonVector> {};

TEST_P(InteropValid, is_kept_without_a_fault) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const json& record = GetParam().entry.at("json");
  Kept kept;
  ASSERT_NO_FATAL_FAILURE(keep("com.example.any", record, kept));
  EXPECT_FALSE(kept.document.has_floats());
  EXPECT_FALSE(kept.decoded.invalid_reason);
  EXPECT_EQ(json::parse(kept.decoded.json), record);
}

INSTANTIATE_TEST_SUITE_P(
    DataModel, InteropValid,
    testing::ValuesIn(test::shared_entries("interop/data-model/data-model-valid.json", "note")),
    test::NameOfEntry());

class InteropInvalid : public testing::TestWithParam<JsonVector> {};

/// JSON that is not DAG-CBOR has no block. Other records are kept with a reason. A fault of the
/// record as a whole is noticed in any collection. A fault of a value is noticed only if the
/// collection's lexicon has such a value, because records of other collections are stored
/// unchanged.
TEST_P(InteropInvalid, is_found_out) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const json& record = GetParam().entry.at("json");
  const std::string& note = GetParam().name;

  if (note.starts_with("bytes with") || note.starts_with("link with")) {
    const auto cbor = json_to_dag_cbor(record);
    ASSERT_FALSE(cbor);
    EXPECT_EQ(cbor.error(),
              make_error_code(note[0] == 'b' ? errc::json_bad_bytes : errc::json_bad_link));
    return;
  }

  static const std::map<std::string, std::string> reasons = {
      {"top-level not an object", "record: must be an object"},
      {"float", "record: has a floating point number"},
      {"record with $type null", "embed.$type: must be the name of a type"},
      {"record with $type wrong type", "embed.$type: must be the name of a type"},
      {"record with empty $type string", "embed.$type: must be the name of a type"},
      {"blob with string size", "avatar.size: must be an integer"},
      {"blob with missing key", "avatar.ref: missing"},
  };
  const auto reason = reasons.find(note);
  ASSERT_NE(reason, reasons.end()) << "a vector that this test does not know";

  std::string collection = "com.example.any";
  json whole = record;
  if (note.starts_with("record with")) {
    collection = "app.bsky.feed.post";
    whole = {{"text", ""}, {"createdAt", "2026-07-04T14:38:08Z"}, {"embed", record.at("rcrd")}};
  } else if (note.starts_with("blob with")) {
    collection = "app.bsky.actor.profile";
    whole = {{"avatar", record.at("blb")}};
  }
  Kept kept;
  ASSERT_NO_FATAL_FAILURE(keep(collection, whole, kept));
  EXPECT_EQ(kept.decoded.invalid_reason, reason->second);
  EXPECT_EQ(json::parse(kept.decoded.json), whole);
}

INSTANTIATE_TEST_SUITE_P(
    DataModel, InteropInvalid,
    testing::ValuesIn(test::shared_entries("interop/data-model/data-model-invalid.json", "note")),
    test::NameOfEntry());

}  // namespace
}  // namespace skua::event::json_record_test
