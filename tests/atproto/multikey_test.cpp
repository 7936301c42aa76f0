#include <random>

#include <gtest/gtest.h>

#include "atproto/errc.hpp"
#include "atproto/signing.hpp"

namespace skua::atproto::multikey_test {
namespace {

TEST(Base58, own_cases) {
  // Examples of the draft specification of Base58 (draft-msporny-base58).
  EXPECT_EQ(encode_base58(as_bytes("Hello World!")), "2NEpo7TZRRrLZSi2U");
  EXPECT_EQ(encode_base58(Bytes{0x00, 0x00, 0x28, 0x7f, 0xb4, 0xcd}), "11233QC4");
  EXPECT_EQ(encode_base58({}), "");
  EXPECT_EQ(decode_base58("11233QC4"), (Bytes{0x00, 0x00, 0x28, 0x7f, 0xb4, 0xcd}));
  EXPECT_EQ(decode_base58("111"), (Bytes{0, 0, 0}));
  EXPECT_EQ(decode_base58(""), Bytes{});
  for (const char* bad : {"0", "O", "I", "l", "2 2", "+"}) {
    EXPECT_EQ(decode_base58(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(decode_base58(std::string(257, '2')), std::nullopt);
}

TEST(Base58, round_trips) {
  std::mt19937 random(58);
  for (std::size_t length = 0; length < 80; ++length) {
    Bytes bytes(length);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 4 == 0 ? 0 : random());
    EXPECT_EQ(decode_base58(encode_base58(bytes)), bytes);
  }
}

Multikey some_key(Curve curve) {
  Multikey key;
  key.curve = curve;
  key.point[0] = 3;
  for (std::size_t i = 1; i < key.point.size(); ++i) key.point[i] = static_cast<std::uint8_t>(i);
  return key;
}

TEST(Multikey, round_trips) {
  for (const Curve curve : {Curve::k256, Curve::p256}) {
    const Multikey key = some_key(curve);
    EXPECT_EQ(*Multikey::parse(key.to_string()), key);
    EXPECT_EQ(*Multikey::parse_did_key(key.to_did_key()), key);
  }
  EXPECT_TRUE(some_key(Curve::k256).to_did_key().starts_with("did:key:zQ3s"));
  EXPECT_TRUE(some_key(Curve::p256).to_did_key().starts_with("did:key:zDna"));
}

TEST(Multikey, refuses_other_keys) {
  const std::string good = some_key(Curve::k256).to_string();
  Bytes ed25519 = {0xed, 0x01};
  ed25519.resize(35, 2);
  Bytes odd_form = {0xe7, 0x01, 0x05};
  odd_form.resize(35, 2);
  for (const std::string& bad :
       {std::string(), std::string("z"), good.substr(1), good + "2", good.substr(0, 40),
        "z" + encode_base58(ed25519), "z" + encode_base58(odd_form), std::string("z0OIl")}) {
    const auto parsed = Multikey::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error(), errc::bad_key);
  }
  EXPECT_FALSE(Multikey::parse_did_key(good));
  EXPECT_FALSE(Multikey::parse_did_key("did:web:" + good));
}

}  // namespace
}  // namespace skua::atproto::multikey_test
