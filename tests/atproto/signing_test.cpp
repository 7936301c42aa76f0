#include "atproto/signing.hpp"

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/errc.hpp"
#include "support/test_vectors.hpp"

namespace skua::atproto {
namespace {

using nlohmann::json;

json load(const std::string& relative) {
  const auto shared = test::shared_dir();
  return shared ? json::parse(test::read_file(*shared / "data" / relative)) : json::array();
}

std::array<std::uint8_t, 32> secret_of(ByteView bytes) {
  std::array<std::uint8_t, 32> secret{};
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  return secret;
}

struct SignatureCase {
  std::string name;
  json fixture;
  friend std::ostream& operator<<(std::ostream& out, const SignatureCase& c) {
    return out << c.name;
  }
};

std::vector<SignatureCase> signature_cases() {
  std::vector<SignatureCase> cases;
  for (const json& fixture : load("interop/crypto/signature-fixtures.json")) {
    cases.push_back({fixture.at("comment"), fixture});
  }
  if (cases.empty()) cases.push_back({"needs ../shared", {}});
  return cases;
}

class InteropSignature : public testing::TestWithParam<SignatureCase> {};

TEST_P(InteropSignature, IsJudgedRightly) {
  SKUA_NEED_SHARED();
  const json& fixture = GetParam().fixture;
  const auto multikey = Multikey::parse_did_key(fixture.at("publicKeyDid").get<std::string>());
  ASSERT_TRUE(multikey);
  const auto key = VerifyingKey::from_multikey(*multikey);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->multikey(), *multikey);

  // The older verification methods carry the point alone.
  const auto point = decode_base58(fixture.at("publicKeyMultibase").get<std::string>().substr(1));
  ASSERT_TRUE(point);
  const auto legacy = VerifyingKey::from_point(multikey->curve, *point);
  ASSERT_TRUE(legacy);
  EXPECT_EQ(legacy->multikey(), *multikey);

  const auto message = test::from_base64(fixture.at("messageBase64").get<std::string>());
  const auto signature = test::from_base64(fixture.at("signatureBase64").get<std::string>());
  const auto verdict = key->verify(message, signature);
  ASSERT_EQ(verdict.has_value(), fixture.at("validSignature").get<bool>());
  if (verdict) return;
  const bool is_high_s = fixture.at("tags").at(0) == "high-s";
  EXPECT_EQ(verdict.error(), is_high_s ? errc::high_s_signature : errc::bad_signature_form);
}

INSTANTIATE_TEST_SUITE_P(All, InteropSignature, testing::ValuesIn(signature_cases()),
                         [](const auto& test) {
                           return skua::test::vector_name(test.index, test.param.name);
                         });

TEST(InteropKeys, PublicKeyOfEachSecret) {
  SKUA_NEED_SHARED();
  for (const json& fixture : load("interop/crypto/w3c_didkey_K256.json")) {
    const auto secret = test::from_hex(fixture.at("privateKeyBytesHex").get<std::string>());
    const auto key = SigningKey::from_bytes(Curve::k256, secret_of(secret));
    ASSERT_TRUE(key);
    EXPECT_EQ(key->public_key().to_did_key(), fixture.at("publicDidKey"));
  }
  for (const json& fixture : load("interop/crypto/w3c_didkey_P256.json")) {
    const auto secret = decode_base58(fixture.at("privateKeyBytesBase58").get<std::string>());
    ASSERT_TRUE(secret);
    const auto key = SigningKey::from_bytes(Curve::p256, secret_of(*secret));
    ASSERT_TRUE(key);
    EXPECT_EQ(key->public_key().to_did_key(), fixture.at("publicDidKey"));
  }
}

class BothCurves : public testing::TestWithParam<Curve> {
 protected:
  SigningKey key(std::uint8_t seed) const {
    std::array<std::uint8_t, 32> secret{};
    secret.fill(seed);
    return *SigningKey::from_bytes(GetParam(), secret);
  }
  static VerifyingKey verifier(const SigningKey& key) {
    return *VerifyingKey::from_multikey(key.public_key());
  }
};

TEST_P(BothCurves, ChecksWhatItSigned) {
  const SigningKey signer = key(7);
  const VerifyingKey checker = verifier(signer);
  EXPECT_EQ(checker.curve(), GetParam());
  for (int i = 0; i < 40; ++i) {  // high s would come up in half of them
    const std::string message = "message " + std::to_string(i);
    const auto verdict = checker.verify(as_bytes(message), signer.sign(as_bytes(message)));
    EXPECT_TRUE(verdict) << verdict.error().message();
  }
}

TEST_P(BothCurves, RefusesAnotherMessageOrKey) {
  const SigningKey signer = key(7);
  const Signature signature = signer.sign(as_bytes("one"));
  EXPECT_EQ(verifier(signer).verify(as_bytes("two"), signature).error(), errc::wrong_signature);
  EXPECT_EQ(verifier(key(8)).verify(as_bytes("one"), signature).error(), errc::wrong_signature);
}

TEST_P(BothCurves, RefusesEveryChangedBit) {
  const SigningKey signer = key(9);
  const VerifyingKey checker = verifier(signer);
  const Signature good = signer.sign(as_bytes("one"));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Signature bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(checker.verify(as_bytes("one"), bad)) << bit;
  }
}

TEST_P(BothCurves, RefusesDegenerateSignatures) {
  const SigningKey signer = key(9);
  const VerifyingKey checker = verifier(signer);
  Signature zero{};
  EXPECT_FALSE(checker.verify(as_bytes("one"), zero));
  Signature ones;
  ones.fill(0xff);
  EXPECT_FALSE(checker.verify(as_bytes("one"), ones));
  EXPECT_EQ(checker.verify(as_bytes("one"), {}).error(), errc::bad_signature_form);
  EXPECT_EQ(checker.verify(as_bytes("one"), Bytes(65)).error(), errc::bad_signature_form);
}

TEST_P(BothCurves, RefusesSecretsOutOfRange) {
  std::array<std::uint8_t, 32> secret{};
  EXPECT_EQ(SigningKey::from_bytes(GetParam(), secret).error(), errc::bad_key);
  secret.fill(0xff);
  EXPECT_EQ(SigningKey::from_bytes(GetParam(), secret).error(), errc::bad_key);
}

TEST_P(BothCurves, RefusesPointsThatAreNone) {
  Multikey off_curve = key(7).public_key();
  int refused = 0;
  for (unsigned x = 0; x < 64; ++x) {  // half of all x have no point
    off_curve.point[32] = static_cast<std::uint8_t>(x);
    if (!VerifyingKey::from_multikey(off_curve)) ++refused;
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, 54);
  EXPECT_FALSE(VerifyingKey::from_point(GetParam(), {}));
  EXPECT_FALSE(VerifyingKey::from_point(GetParam(), Bytes(33)));
  EXPECT_FALSE(VerifyingKey::from_point(GetParam(), Bytes(65, 6)));
  EXPECT_FALSE(VerifyingKey::from_point(GetParam(), Bytes(1)));
}

INSTANTIATE_TEST_SUITE_P(Curves, BothCurves, testing::Values(Curve::k256, Curve::p256),
                         [](const auto& test) {
                           return test.param == Curve::k256 ? "K256" : "P256";
                         });

TEST(SigningKey, GivesTheSameK256SignatureEachTime) {
  std::array<std::uint8_t, 32> secret{};
  secret.fill(5);
  const auto key = SigningKey::from_bytes(Curve::k256, secret);
  EXPECT_EQ(key->sign(as_bytes("x")), key->sign(as_bytes("x")));
}

}  // namespace
}  // namespace skua::atproto
