#include "atproto/signing.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/errc.hpp"
#include "support/json_vectors.hpp"

namespace skua::atproto::signing_test {
namespace {

using test::JsonVector;
using test::NameOfEntry;
using test::shared_entries;

std::array<std::uint8_t, 32> secret_of(ByteView bytes) {
  std::array<std::uint8_t, 32> secret{};
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  return secret;
}

class InteropSignature : public testing::TestWithParam<JsonVector> {};

TEST_P(InteropSignature, is_judged_rightly) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const JsonVector& fixture = GetParam();
  const auto multikey = Multikey::parse_did_key(fixture.text("publicKeyDid"));
  ASSERT_TRUE(multikey);
  const auto key = VerifyingKey::from_multikey(*multikey);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->multikey(), *multikey);
  EXPECT_EQ(key->curve(), fixture.text("algorithm") == "ES256" ? Curve::p256 : Curve::k256);

  // The older verification methods carry the point alone.
  const auto point = decode_base58(fixture.text("publicKeyMultibase").substr(1));
  ASSERT_TRUE(point);
  const auto legacy = VerifyingKey::from_point(multikey->curve, *point);
  ASSERT_TRUE(legacy);
  EXPECT_EQ(legacy->multikey(), *multikey);

  const auto message = test::from_base64(fixture.text("messageBase64"));
  const auto signature = test::from_base64(fixture.text("signatureBase64"));
  for (const auto& checker : {*key, *legacy}) {
    const auto verdict = checker.verify(message, signature);
    ASSERT_EQ(verdict.has_value(), fixture.entry.at("validSignature").get<bool>());
    if (verdict) continue;
    const bool is_high_s = fixture.entry.at("tags").at(0) == "high-s";
    EXPECT_EQ(verdict.error(), is_high_s ? errc::high_s_signature : errc::bad_signature_form);
  }
}

INSTANTIATE_TEST_SUITE_P(All, InteropSignature,
                         testing::ValuesIn(shared_entries("interop/crypto/signature-fixtures.json",
                                                          "comment")),
                         NameOfEntry());

class InteropKeyPair : public testing::TestWithParam<JsonVector> {};

TEST_P(InteropKeyPair, has_its_public_key) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const JsonVector& fixture = GetParam();
  const auto expected = Multikey::parse_did_key(fixture.text("publicDidKey"));
  ASSERT_TRUE(expected);
  const bool is_hex = fixture.entry.contains("privateKeyBytesHex");
  const auto secret = is_hex ? test::from_hex(fixture.text("privateKeyBytesHex"))
                             : decode_base58(fixture.text("privateKeyBytesBase58"));
  ASSERT_TRUE(secret);
  const auto key = SigningKey::from_bytes(expected->curve, secret_of(*secret));
  ASSERT_TRUE(key);
  EXPECT_EQ(key->public_key(), *expected);
  EXPECT_EQ(key->public_key().to_did_key(), fixture.text("publicDidKey"));
  const auto checker = VerifyingKey::from_multikey(*expected);
  ASSERT_TRUE(checker);
  EXPECT_TRUE(checker->verify(as_bytes("message"), key->sign(as_bytes("message"))));
}

INSTANTIATE_TEST_SUITE_P(K256, InteropKeyPair,
                         testing::ValuesIn(shared_entries("interop/crypto/w3c_didkey_K256.json",
                                                          "publicDidKey")),
                         NameOfEntry());
INSTANTIATE_TEST_SUITE_P(P256, InteropKeyPair,
                         testing::ValuesIn(shared_entries("interop/crypto/w3c_didkey_P256.json",
                                                          "publicDidKey")),
                         NameOfEntry());

/// The order of a curve's group and the x of its generator (SEC 2).
struct CurveConstants {
  std::string order;
  std::string generator;
};

CurveConstants constants_of(Curve curve) {
  if (curve == Curve::k256) {
    return {"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
            "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"};
  }
  return {"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
          "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"};
}

/// The same signature with the other of its two values of S.
Signature with_other_s(Curve curve, Signature signature) {
  const Bytes order = test::from_hex(constants_of(curve).order);
  int borrow = 0;
  for (std::size_t i = 32; i-- > 0;) {
    const int digit = order[i] - signature[32 + i] - borrow;
    borrow = digit < 0 ? 1 : 0;
    signature[32 + i] = static_cast<std::uint8_t>(digit & 0xff);
  }
  return signature;
}

/// A signature as X.509 writes it: a sequence of two integers.
Bytes as_der(const Signature& signature) {
  Bytes integers;
  for (const std::size_t begin : {0U, 32U}) {
    Bytes number(signature.begin() + static_cast<std::ptrdiff_t>(begin),
                 signature.begin() + static_cast<std::ptrdiff_t>(begin) + 32);
    while (number.size() > 1 && number[0] == 0 && number[1] < 0x80) number.erase(number.begin());
    if (number[0] >= 0x80) number.insert(number.begin(), 0);
    integers.push_back(2);
    integers.push_back(static_cast<std::uint8_t>(number.size()));
    integers.insert(integers.end(), number.begin(), number.end());
  }
  Bytes der = {0x30, static_cast<std::uint8_t>(integers.size())};
  der.insert(der.end(), integers.begin(), integers.end());
  return der;
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

TEST_P(BothCurves, checks_what_it_signed) {
  const SigningKey signer = key(7);
  const VerifyingKey checker = verifier(signer);
  EXPECT_EQ(checker.curve(), GetParam());
  for (int i = 0; i < 40; ++i) {  // high s would come up in half of them
    const std::string message = "message " + std::to_string(i);
    const auto verdict = checker.verify(as_bytes(message), signer.sign(as_bytes(message)));
    EXPECT_TRUE(verdict) << verdict.error().message();
  }
}

TEST_P(BothCurves, refuses_another_message_or_key) {
  const SigningKey signer = key(7);
  const Signature signature = signer.sign(as_bytes("one"));
  EXPECT_EQ(verifier(signer).verify(as_bytes("two"), signature).error(), errc::wrong_signature);
  EXPECT_EQ(verifier(key(8)).verify(as_bytes("one"), signature).error(), errc::wrong_signature);
}

TEST_P(BothCurves, refuses_every_changed_bit) {
  const SigningKey signer = key(9);
  const VerifyingKey checker = verifier(signer);
  const Signature good = signer.sign(as_bytes("one"));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Signature bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(checker.verify(as_bytes("one"), bad)) << bit;
  }
}

TEST_P(BothCurves, refuses_degenerate_signatures) {
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

TEST_P(BothCurves, refuses_the_other_s) {
  const SigningKey signer = key(11);
  for (int i = 0; i < 20; ++i) {
    const std::string message = "message " + std::to_string(i);
    const Signature low = signer.sign(as_bytes(message));
    const Signature high = with_other_s(GetParam(), low);
    EXPECT_EQ(with_other_s(GetParam(), high), low);
    EXPECT_EQ(verifier(signer).verify(as_bytes(message), high).error(), errc::high_s_signature);
  }
}

TEST_P(BothCurves, refuses_der) {
  const SigningKey signer = key(12);
  const Bytes der = as_der(signer.sign(as_bytes("one")));
  EXPECT_EQ(verifier(signer).verify(as_bytes("one"), der).error(), errc::bad_signature_form);
}

TEST_P(BothCurves, the_key_of_one_is_the_generator) {
  std::array<std::uint8_t, 32> one{};
  one.back() = 1;
  const auto point = SigningKey::from_bytes(GetParam(), one)->public_key().point;
  EXPECT_EQ(test::to_hex({point.begin(), point.end()}), constants_of(GetParam()).generator);
}

TEST_P(BothCurves, refuses_secrets_out_of_range) {
  std::array<std::uint8_t, 32> secret{};
  EXPECT_EQ(SigningKey::from_bytes(GetParam(), secret).error(), errc::bad_key);
  secret.fill(0xff);
  EXPECT_EQ(SigningKey::from_bytes(GetParam(), secret).error(), errc::bad_key);
}

TEST_P(BothCurves, refuses_points_that_are_none) {
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

TEST(SigningKey, gives_the_same_k256_signature_each_time) {
  std::array<std::uint8_t, 32> secret{};
  secret.fill(5);
  const auto key = SigningKey::from_bytes(Curve::k256, secret);
  EXPECT_EQ(key->sign(as_bytes("x")), key->sign(as_bytes("x")));
}

}  // namespace
}  // namespace skua::atproto::signing_test
