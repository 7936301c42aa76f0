#include "atproto/cid.hpp"

#include <random>

#include <gtest/gtest.h>

#include "atproto/errc.hpp"
#include "atproto/syntax.hpp"
#include "support/test_vectors.hpp"

namespace skua::atproto::cid_test {
namespace {

using test::LineVector;

// The node of an empty repository, {"e": [], "l": null}.
const Bytes kEmptyNode = {0xa2, 0x61, 'e', 0x80, 0x61, 'l', 0xf6};
constexpr std::string_view kEmptyNodeCid =
    "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm";

TEST(Cid, of_a_block) {
  EXPECT_EQ(Cid::of(kEmptyNode).to_string(), kEmptyNodeCid);
  EXPECT_EQ(*Cid::parse(kEmptyNodeCid), Cid::of(kEmptyNode));
}

TEST(Cid, of_a_blob) {
  const Cid cid = Cid::of(as_bytes("hello"), Cid::kRaw);
  EXPECT_TRUE(cid.to_string().starts_with("bafkrei"));
  EXPECT_EQ(Cid::parse(cid.to_string())->codec, Cid::kRaw);
}

TEST(Cid, round_trips_in_both_forms) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    Cid cid;
    cid.codec = i % 2 == 0 ? Cid::kDagCbor : Cid::kRaw;
    for (auto& byte : cid.digest) byte = static_cast<std::uint8_t>(random());
    const auto binary = cid.to_bytes();
    EXPECT_EQ(*Cid::parse_bytes(binary), cid);
    EXPECT_EQ(Cid::from_trusted_bytes(binary.data()), cid);
    EXPECT_EQ(*Cid::parse(cid.to_string()), cid);
  }
}

TEST(Cid, refuses_any_other_binary_head) {
  const auto good = Cid::of(kEmptyNode).to_bytes();
  ASSERT_TRUE(Cid::parse_bytes(good));
  for (std::size_t at = 0; at < 4; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      auto bad = good;
      bad[at] = static_cast<std::uint8_t>(value);
      const bool is_raw = at == 1 && value == Cid::kRaw;
      EXPECT_EQ(Cid::parse_bytes(bad).has_value(), bad == good || is_raw);
    }
  }
  EXPECT_FALSE(Cid::parse_bytes(ByteView(good).first(35)));
  Bytes longer(good.begin(), good.end());
  longer.push_back(0);
  EXPECT_FALSE(Cid::parse_bytes(longer));
}

TEST(Cid, refuses_other_texts) {
  const std::string good(kEmptyNodeCid);
  std::string upper = good;
  upper[10] = 'Q';
  std::string alien = good;
  alien[20] = '1';
  // The last character holds two bits that must be zero: `m` is 12, `n` would set one.
  std::string dangling = good;
  dangling.back() = 'n';
  for (const std::string& bad :
       {std::string(), upper, alien, dangling, good + "a", good.substr(0, 58), "z" + good.substr(1),
        std::string("bafkqabiaaebagba")}) {
    const auto parsed = Cid::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error(), errc::bad_cid);
  }
}

class ValidCidText : public testing::TestWithParam<LineVector> {};

// These are CIDs of any kind; only some are of the kinds that atproto blesses.
TEST_P(ValidCidText, is_taken) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_TRUE(is_cid_text(GetParam().text));
  if (const auto parsed = Cid::parse(GetParam().text)) {
    EXPECT_EQ(parsed->to_string(), GetParam().text);
  }
}

class InvalidCidText : public testing::TestWithParam<LineVector> {};

TEST_P(InvalidCidText, is_refused) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_FALSE(is_cid_text(GetParam().text));
  EXPECT_FALSE(Cid::parse(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Interop, ValidCidText,
    testing::ValuesIn(test::shared_lines("interop/syntax/cid_syntax_valid.txt")),
    test::NameOfLine());
INSTANTIATE_TEST_SUITE_P(
    Interop, InvalidCidText,
    testing::ValuesIn(test::shared_lines("interop/syntax/cid_syntax_invalid.txt")),
    test::NameOfLine());
// Of another multibase, another codec and hash, and one that atproto has.
INSTANTIATE_TEST_SUITE_P(Own, ValidCidText,
                         testing::ValuesIn(test::own_lines({"zdj7WhuEjrB52m1BisYCtmjH1hSKa7yZ3jEZ",
                                                            "bagcqcera", "mAXASIA+b=",
                                                            std::string(kEmptyNodeCid)})),
                         test::NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, InvalidCidText,
                         testing::ValuesIn(test::own_lines({"bafy", "not a cid at all",
                                                            "b/b/b/b/b"})),
                         test::NameOfLine());

TEST(Cid, knows_the_size_of_other_forms) {
  Bytes plain(40, 7);
  const auto bytes = Cid::of(as_bytes("x")).to_bytes();
  std::copy(bytes.begin(), bytes.end(), plain.begin());
  EXPECT_EQ(Cid::size_of_any(plain), Cid::kBinarySize);
  Bytes version0 = {0x12, 0x20};
  version0.resize(50, 7);
  EXPECT_EQ(Cid::size_of_any(version0), 34U);
  EXPECT_EQ(Cid::size_of_any(ByteView(version0).first(33)), 0U);
  Bytes sha512 = {0x01, 0x71, 0x13, 64};
  sha512.resize(4 + 64, 7);
  EXPECT_EQ(Cid::size_of_any(sha512), 68U);
  EXPECT_EQ(Cid::size_of_any(ByteView(sha512).first(67)), 0U);
  EXPECT_EQ(Cid::size_of_any(Bytes{0x01, 0xa9, 0x02, 0x00, 0x00}), 5U) << "DAG-JSON, identity";
  EXPECT_EQ(Cid::size_of_any(Bytes{0x02, 0x71, 0x12, 0x00}), 0U);
  EXPECT_EQ(Cid::size_of_any(Bytes{0x01, 0x80, 0x00, 0x12, 0x00}), 0U) << "not the shortest form";
  EXPECT_EQ(Cid::size_of_any({}), 0U);
}

}  // namespace
}  // namespace skua::atproto::cid_test
