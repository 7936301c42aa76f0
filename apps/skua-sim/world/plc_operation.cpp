#include "plc_operation.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "atproto/base64.hpp"
#include "atproto/sha256.hpp"
#include "base32.hpp"
#include "event/json_record.hpp"

namespace skua::sim {
namespace {

Bytes cbor_of(const nlohmann::json& value) {
  auto cbor = event::json_to_dag_cbor(value);
  if (!cbor) throw std::logic_error("PLC operation: " + cbor.error().message());
  return std::move(*cbor);
}

std::string base64url(ByteView bytes) {
  std::string text;
  atproto::append_base64(text, bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

/// The JSON-LD contexts of a document with such a key.
std::string_view suite_context(const std::string& did_key) {
  const auto key = atproto::Multikey::parse_did_key(did_key);
  return key && key->curve == atproto::Curve::p256
             ? "https://w3id.org/security/suites/ecdsa-2019/v1"
             : "https://w3id.org/security/suites/secp256k1-2019/v1";
}

}  // namespace

nlohmann::json PlcOperation::to_json() const {
  nlohmann::json json = {
      {"type", "plc_operation"},
      {"rotationKeys", rotation_keys},
      {"verificationMethods", {{"atproto", signing_key}}},
      {"alsoKnownAs", nlohmann::json::array({"at://" + handle})},
      {"services", {{"atproto_pds", {{"type", "AtprotoPersonalDataServer"}, {"endpoint", pds}}}}},
      {"prev", nullptr},
  };
  if (labeler) {
    json["verificationMethods"]["atproto_label"] = labeler->label_key;
    json["services"]["atproto_labeler"] = {{"type", "AtprotoLabeler"}, {"endpoint", labeler->url}};
  }
  if (prev) json["prev"] = prev->to_string();
  if (!signature.empty()) json["sig"] = signature;
  return json;
}

atproto::Cid PlcOperation::cid() const {
  return atproto::Cid::of(cbor_of(to_json()));
}

void sign_plc_operation(PlcOperation& operation, const atproto::SigningKey& rotation_key) {
  operation.signature.clear();
  operation.signature = base64url(rotation_key.sign(cbor_of(operation.to_json())));
}

std::string plc_did(const PlcOperation& genesis) {
  return "did:plc:" + base32(genesis.cid().digest).substr(0, 24);
}

nlohmann::ordered_json plc_document(const std::string& did, const PlcOperation& operation) {
  using Json = nlohmann::ordered_json;
  std::vector<std::string_view> contexts = {"https://www.w3.org/ns/did/v1",
                                            "https://w3id.org/security/multikey/v1"};
  Json methods = Json::array();
  Json services = Json::array();
  const auto add_method = [&](std::string_view name, const std::string& key) {
    constexpr std::string_view kDidKey = "did:key:";
    const auto context = suite_context(key);
    if (std::ranges::find(contexts, context) == contexts.end()) contexts.push_back(context);
    methods.push_back({{"id", did + "#" + std::string(name)},
                       {"type", "Multikey"},
                       {"controller", did},
                       {"publicKeyMultibase", key.substr(kDidKey.size())}});
  };
  const auto add_service = [&](const char* id, const char* type, const std::string& url) {
    services.push_back({{"id", id}, {"type", type}, {"serviceEndpoint", url}});
  };
  add_method("atproto", operation.signing_key);
  add_service("#atproto_pds", "AtprotoPersonalDataServer", operation.pds);
  if (operation.labeler) {
    add_method("atproto_label", operation.labeler->label_key);
    add_service("#atproto_labeler", "AtprotoLabeler", operation.labeler->url);
  }
  return {{"@context", contexts},
          {"id", did},
          {"alsoKnownAs", Json::array({"at://" + operation.handle})},
          {"verificationMethod", methods},
          {"service", services}};
}

}  // namespace skua::sim
