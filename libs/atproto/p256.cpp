#include "atproto/p256.hpp"

#include <stdexcept>
#include <string>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>

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

/// Half the order of the curve, rounded down: the largest s that is not high.
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

/// Makes a key of a public point and, when there is one, the private number. Null: OpenSSL refuses
/// it.
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
