#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "support/test_vectors.hpp"

namespace skua::test {

// The base points of both curves are keys whose forms everybody knows.
constexpr std::string_view kK256X =
    "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
constexpr std::string_view kK256Y =
    "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
constexpr std::string_view kP256X =
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
constexpr std::string_view kP256Y =
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

inline std::string multibase(const std::string& hex) {
  return "z" + atproto::encode_base58(from_hex(hex));
}

inline std::string k256_multikey() {
  return multibase("e70102" + std::string(kK256X));
}

inline std::string p256_multikey() {
  return multibase("802403" + std::string(kP256X));
}

/// A DID document as plc.directory writes it, with the K-256 key.
inline nlohmann::json made_document(const std::string& did,
                                    const std::string& handle = "alice.example",
                                    const std::string& pds = "https://pds.example") {
  using nlohmann::json;
  const json method = {{"id", did + "#atproto"},
                       {"type", "Multikey"},
                       {"controller", did},
                       {"publicKeyMultibase", k256_multikey()}};
  const json service = {
      {"id", "#atproto_pds"}, {"type", "AtprotoPersonalDataServer"}, {"serviceEndpoint", pds}};
  return {{"id", did},
          {"alsoKnownAs", json::array({"at://" + handle})},
          {"verificationMethod", json::array({method})},
          {"service", json::array({service})}};
}

}  // namespace skua::test
