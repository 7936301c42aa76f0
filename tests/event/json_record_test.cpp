#include "event/json_record.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/data_model.hpp"
#include "event/errc.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "support/shared_data.hpp"

namespace skua::event {
namespace {

using nlohmann::json;

const std::string kCid = "bafyreid27zk7lbis4zw5fz4podbvbs4fc5ivwji3dmrwa6zggnj4bnd57u";

TEST(JsonRecordTest, KeysStandInDagCborOrder) {
  const auto cbor = json_to_dag_cbor({{"aa", 1}, {"b", 2}, {"", 3}});
  ASSERT_TRUE(cbor);
  EXPECT_EQ(*cbor, (Bytes{0xa3, 0x60, 0x03, 0x61, 'b', 0x02, 0x62, 'a', 'a', 0x01}));
}

TEST(JsonRecordTest, LinksAndBytesAreNoMaps) {
  const auto cbor = json_to_dag_cbor({{"l", {{"$link", kCid}}}, {"b", {{"$bytes", "AQI="}}}});
  ASSERT_TRUE(cbor);
  atproto::Document document;
  ASSERT_TRUE(repo::read_dag_cbor(*cbor, document));
  EXPECT_EQ(document.root().find("l")->link().to_string(), kCid);
  EXPECT_EQ(
      Bytes(document.root().find("b")->bytes().begin(), document.root().find("b")->bytes().end()),
      (Bytes{1, 2}));
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

TEST_P(WrongJson, IsAnErrorWhereverItStands) {
  for (const std::string& text : {GetParam().text, R"({"a":[)" + GetParam().text + "]}"}) {
    const auto cbor = json_to_dag_cbor(json::parse(text));
    ASSERT_FALSE(cbor) << text;
    EXPECT_EQ(cbor.error(), make_error_code(GetParam().error));
  }
}

TEST(JsonRecordTest, TheInteropFixturesHaveTheirCids) {
  SKUA_NEED_SHARED();
  std::ifstream file(*test::shared_dir() / "data/interop/data-model/data-model-fixtures.json");
  const json fixtures = json::parse(file);
  ASSERT_FALSE(fixtures.empty());
  for (const json& fixture : fixtures) {
    const auto cbor = json_to_dag_cbor(fixture.at("json"));
    ASSERT_TRUE(cbor) << fixture.dump();
    EXPECT_EQ(atproto::Cid::of(*cbor).to_string(), fixture.at("cid").get<std::string>());
  }
}

}  // namespace
}  // namespace skua::event
