#include "atproto/signing.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>

#include "atproto/errc.hpp"
#include "atproto/sha256.hpp"

namespace skua::atproto::k256 {

namespace {

/// All threads share one context, because verification only reads it.
const secp256k1_context* context() {
  static const secp256k1_context* const made = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  return made;
}

}  // namespace

std::optional<secp256k1_pubkey> parse_point(ByteView point) {
  secp256k1_pubkey key;
  if (secp256k1_ec_pubkey_parse(context(), &key, point.data(), point.size()) != 1) {
    return std::nullopt;
  }
  return key;
}

Point compress(const secp256k1_pubkey& key) {
  Point point{};
  std::size_t size = point.size();
  secp256k1_ec_pubkey_serialize(context(), point.data(), &size, &key, SECP256K1_EC_COMPRESSED);
  return point;
}

errc verify(const secp256k1_pubkey& key, const Digest& digest, const std::uint8_t* signature) {
  secp256k1_ecdsa_signature parsed;
  if (secp256k1_ecdsa_signature_parse_compact(context(), &parsed, signature) != 1) {
    return errc::wrong_signature;
  }
  if (secp256k1_ecdsa_signature_normalize(context(), nullptr, &parsed) == 1) {
    return errc::high_s_signature;
  }
  return secp256k1_ecdsa_verify(context(), &parsed, digest.data(), &key) == 1
             ? errc{}
             : errc::wrong_signature;
}

std::optional<secp256k1_pubkey> public_key(const Secret& secret) {
  secp256k1_pubkey key;
  if (secp256k1_ec_pubkey_create(context(), &key, secret.data()) != 1) return std::nullopt;
  return key;
}

std::array<std::uint8_t, 64> sign(const Secret& secret, const Digest& digest) {
  secp256k1_ecdsa_signature signature;
  if (secp256k1_ecdsa_sign(context(), &signature, digest.data(), secret.data(), nullptr, nullptr) !=
      1) {
    throw std::runtime_error("libsecp256k1 could not sign");
  }
  std::array<std::uint8_t, 64> compact{};
  secp256k1_ecdsa_signature_serialize_compact(context(), compact.data(), &signature);
  return compact;
}

}  // namespace skua::atproto::k256

namespace skua::atproto::p256 {

namespace {

template <auto Free>
struct Release {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Number = std::unique_ptr<BIGNUM, Release<BN_clear_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Release<EVP_PKEY_CTX_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Release<OSSL_PARAM_free>>;
using ParameterBuilder = std::unique_ptr<OSSL_PARAM_BLD, Release<OSSL_PARAM_BLD_free>>;
using CurvePoint = std::unique_ptr<EC_POINT, Release<EC_POINT_free>>;
using EncodedSignature = std::unique_ptr<ECDSA_SIG, Release<ECDSA_SIG_free>>;

constexpr int kScalarSize = 32;
constexpr std::size_t kUncompressedSize = 65;
constexpr std::size_t kMaxDerSize = 80;

[[noreturn]] void fail(const char* what) {
  ERR_clear_error();
  throw std::runtime_error(std::string("OpenSSL could not ") + what);
}

const EC_GROUP* group() {
  static const EC_GROUP* const made = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  return made;
}

/// Half the order of the curve, rounded down. A larger s is high.
const BIGNUM* half_order() {
  static const BIGNUM* const made = [] {
    BIGNUM* half = BN_new();
    BN_rshift1(half, EC_GROUP_get0_order(group()));
    return half;
  }();
  return made;
}

Number number_of(const std::uint8_t* bytes) {
  return Number(BN_bin2bn(bytes, kScalarSize, nullptr));
}

/// Makes a key of a public point and, unless `secret` is null, of the private number. Returns null
/// if OpenSSL refuses the key.
Key make_key(ByteView point, const BIGNUM* secret) {
  const ParameterBuilder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1,
                                  0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  if (secret != nullptr) OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, secret);
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  return {key, EVP_PKEY_free};
}

}  // namespace

Key parse_point(ByteView point) {
  return make_key(point, nullptr);
}

Point compress(const Key& key) {
  std::array<std::uint8_t, kUncompressedSize> encoded{};
  std::size_t size = 0;
  if (EVP_PKEY_get_octet_string_param(key.get(), OSSL_PKEY_PARAM_PUB_KEY, encoded.data(),
                                      encoded.size(), &size) != 1) {
    fail("encode a public key");
  }
  const CurvePoint point(EC_POINT_new(group()));
  Point out{};
  if (EC_POINT_oct2point(group(), point.get(), encoded.data(), size, nullptr) != 1 ||
      EC_POINT_point2oct(group(), point.get(), POINT_CONVERSION_COMPRESSED, out.data(), out.size(),
                         nullptr) != out.size()) {
    fail("encode a public key");
  }
  return out;
}

errc verify(const Key& key, const Digest& digest, const std::uint8_t* signature) {
  Number r = number_of(signature);
  Number s = number_of(signature + kScalarSize);
  if (BN_cmp(s.get(), half_order()) > 0 && BN_cmp(s.get(), EC_GROUP_get0_order(group())) < 0) {
    return errc::high_s_signature;
  }
  const EncodedSignature encoded(ECDSA_SIG_new());
  ECDSA_SIG_set0(encoded.get(), r.release(), s.release());
  std::array<std::uint8_t, kMaxDerSize> der{};
  std::uint8_t* end = der.data();
  const int size = i2d_ECDSA_SIG(encoded.get(), &end);
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  if (size <= 0 || !context || EVP_PKEY_verify_init(context.get()) != 1) fail("verify");
  const int verdict = EVP_PKEY_verify(context.get(), der.data(), static_cast<std::size_t>(size),
                                      digest.data(), digest.size());
  if (verdict == 1) return errc{};
  ERR_clear_error();
  return errc::wrong_signature;
}

Key key_pair(const Secret& secret) {
  const Number number = number_of(secret.data());
  if (BN_is_zero(number.get()) || BN_cmp(number.get(), EC_GROUP_get0_order(group())) >= 0) {
    return nullptr;
  }
  const CurvePoint point(EC_POINT_new(group()));
  std::array<std::uint8_t, kUncompressedSize> encoded{};
  if (EC_POINT_mul(group(), point.get(), number.get(), nullptr, nullptr, nullptr) != 1 ||
      EC_POINT_point2oct(group(), point.get(), POINT_CONVERSION_UNCOMPRESSED, encoded.data(),
                         encoded.size(), nullptr) != encoded.size()) {
    fail("compute a public key");
  }
  return make_key(encoded, number.get());
}

std::array<std::uint8_t, 64> sign(const Key& key, const Digest& digest) {
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  std::array<std::uint8_t, kMaxDerSize> der{};
  std::size_t size = der.size();
  if (!context || EVP_PKEY_sign_init(context.get()) != 1 ||
      EVP_PKEY_sign(context.get(), der.data(), &size, digest.data(), digest.size()) != 1) {
    fail("sign");
  }
  const std::uint8_t* begin = der.data();
  const EncodedSignature encoded(d2i_ECDSA_SIG(nullptr, &begin, static_cast<long>(size)));
  if (!encoded) fail("sign");
  const Number s(BN_dup(ECDSA_SIG_get0_s(encoded.get())));
  if (BN_cmp(s.get(), half_order()) > 0) {
    BN_sub(s.get(), EC_GROUP_get0_order(group()), s.get());
  }
  std::array<std::uint8_t, 64> out{};
  BN_bn2binpad(ECDSA_SIG_get0_r(encoded.get()), out.data(), kScalarSize);
  BN_bn2binpad(s.get(), out.data() + kScalarSize, kScalarSize);
  return out;
}

}  // namespace skua::atproto::p256

namespace skua::atproto {

namespace {

constexpr std::string_view kBase58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::size_t kMaxBase58 = 256;
constexpr std::string_view kDidKey = "did:key:";

/// The multicodecs secp256k1-pub and p256-pub, encoded as varints.
using Prefix = std::array<std::uint8_t, 2>;
constexpr Prefix kK256Prefix = {0xe7, 0x01};
constexpr Prefix kP256Prefix = {0x80, 0x24};

}  // namespace

std::string encode_base58(ByteView bytes) {
  std::string digits;  // least significant first
  for (const std::uint8_t byte : bytes) {
    std::uint32_t carry = byte;
    for (char& digit : digits) {
      carry += static_cast<std::uint32_t>(digit) << 8;
      digit = static_cast<char>(carry % 58);
      carry /= 58;
    }
    for (; carry > 0; carry /= 58) digits.push_back(static_cast<char>(carry % 58));
  }
  const auto first = std::find_if(bytes.begin(), bytes.end(), [](auto byte) { return byte != 0; });
  std::string text(static_cast<std::size_t>(first - bytes.begin()), kBase58.front());
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    text.push_back(kBase58[static_cast<std::size_t>(*digit)]);
  }
  return text;
}

std::optional<Bytes> decode_base58(std::string_view text) {
  if (text.size() > kMaxBase58) return std::nullopt;
  Bytes bytes;  // least significant first
  for (const char c : text) {
    const std::size_t value = kBase58.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    auto carry = static_cast<std::uint32_t>(value);
    for (std::uint8_t& byte : bytes) {
      carry += static_cast<std::uint32_t>(byte) * 58;
      byte = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push_back(static_cast<std::uint8_t>(carry));
  }
  const std::size_t zeros = std::min(text.find_first_not_of(kBase58.front()), text.size());
  bytes.insert(bytes.end(), zeros, 0);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

Result<Multikey> Multikey::parse(std::string_view text) {
  if (!text.starts_with('z')) return errc::bad_key;
  const auto bytes = decode_base58(text.substr(1));
  Multikey key;
  if (!bytes || bytes->size() != kK256Prefix.size() + key.point.size()) return errc::bad_key;
  const Prefix prefix = {(*bytes)[0], (*bytes)[1]};
  if (prefix == kK256Prefix) {
    key.curve = Curve::k256;
  } else if (prefix == kP256Prefix) {
    key.curve = Curve::p256;
  } else {
    return errc::bad_key;
  }
  std::copy(bytes->begin() + prefix.size(), bytes->end(), key.point.begin());
  constexpr std::uint8_t kEvenY = 2;
  constexpr std::uint8_t kOddY = 3;
  if (key.point[0] != kEvenY && key.point[0] != kOddY) return errc::bad_key;
  return key;
}

Result<Multikey> Multikey::parse_did_key(std::string_view did) {
  if (!did.starts_with(kDidKey)) return errc::bad_key;
  return parse(did.substr(kDidKey.size()));
}

std::string Multikey::to_string() const {
  const Prefix& prefix = curve == Curve::k256 ? kK256Prefix : kP256Prefix;
  Bytes bytes(prefix.begin(), prefix.end());
  bytes.insert(bytes.end(), point.begin(), point.end());
  return "z" + encode_base58(bytes);
}

std::string Multikey::to_did_key() const {
  return std::string(kDidKey) + to_string();
}

struct VerifyingKey::Impl {
  std::variant<secp256k1_pubkey, p256::Key> key;
};

struct SigningKey::Impl {
  Multikey public_key;
  std::variant<k256::Secret, p256::Key> key;
};

Result<VerifyingKey> VerifyingKey::from_multikey(const Multikey& key) {
  return from_point(key.curve, key.point);
}

Result<VerifyingKey> VerifyingKey::from_point(Curve curve, ByteView point) {
  // Both libraries would also accept the hybrid form (06, 07), which atproto does not permit.
  const bool compressed = point.size() == 33 && (point[0] == 2 || point[0] == 3);
  const bool whole = point.size() == 65 && point[0] == 4;
  if (!compressed && !whole) return errc::bad_key;
  if (curve == Curve::k256) {
    const auto key = k256::parse_point(point);
    if (!key) return errc::bad_key;
    return VerifyingKey(std::make_shared<const Impl>(Impl{*key}));
  }
  auto key = p256::parse_point(point);
  if (!key) return errc::bad_key;
  return VerifyingKey(std::make_shared<const Impl>(Impl{std::move(key)}));
}

Result<void> VerifyingKey::verify(ByteView message, ByteView signature) const {
  if (signature.size() != Signature().size()) return errc::bad_signature_form;
  const Digest digest = sha256(message);
  const auto* k256_key = std::get_if<secp256k1_pubkey>(&impl_->key);
  const errc verdict =
      k256_key != nullptr ? k256::verify(*k256_key, digest, signature.data())
                          : p256::verify(std::get<p256::Key>(impl_->key), digest, signature.data());
  if (verdict != errc{}) return verdict;
  return {};
}

Result<void> verify_signature(const Multikey& key, ByteView message, ByteView signature) {
  const auto parsed = VerifyingKey::from_multikey(key);
  if (!parsed) return parsed.error();
  return parsed->verify(message, signature);
}

Curve VerifyingKey::curve() const {
  return std::holds_alternative<secp256k1_pubkey>(impl_->key) ? Curve::k256 : Curve::p256;
}

Multikey VerifyingKey::multikey() const {
  if (const auto* key = std::get_if<secp256k1_pubkey>(&impl_->key)) {
    return {Curve::k256, k256::compress(*key)};
  }
  return {Curve::p256, p256::compress(std::get<p256::Key>(impl_->key))};
}

Result<SigningKey> SigningKey::from_bytes(Curve curve, const std::array<std::uint8_t, 32>& secret) {
  if (curve == Curve::k256) {
    const auto key = k256::public_key(secret);
    if (!key) return errc::bad_key;
    return SigningKey(
        std::make_shared<const Impl>(Impl{{Curve::k256, k256::compress(*key)}, secret}));
  }
  auto key = p256::key_pair(secret);
  if (!key) return errc::bad_key;
  const Multikey public_key{Curve::p256, p256::compress(key)};
  return SigningKey(std::make_shared<const Impl>(Impl{public_key, std::move(key)}));
}

Multikey SigningKey::public_key() const {
  return impl_->public_key;
}

Signature SigningKey::sign(ByteView message) const {
  const Digest digest = sha256(message);
  if (const auto* secret = std::get_if<k256::Secret>(&impl_->key)) {
    return k256::sign(*secret, digest);
  }
  return p256::sign(std::get<p256::Key>(impl_->key), digest);
}

}  // namespace skua::atproto
