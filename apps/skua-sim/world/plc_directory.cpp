#include "world/plc_directory.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "atproto/base64.hpp"
#include "atproto/sha256.hpp"
#include "event/json_event.hpp"

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

/// Returns the JSON-LD contexts of a document with such a key.
std::string_view suite_context(const std::string& did_key) {
  const auto key = atproto::Multikey::parse_did_key(did_key);
  return key && key->curve == atproto::Curve::p256
             ? "https://w3id.org/security/suites/ecdsa-2019/v1"
             : "https://w3id.org/security/suites/secp256k1-2019/v1";
}

}  // namespace

std::string base32(ByteView bytes) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 5; held -= 5) text += kAlphabet[bits >> (held - 5) & 31U];
  }
  if (held > 0) text += kAlphabet[bits << (5 - held) & 31U];
  return text;
}

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

void PlcDirectory::add(const std::string& did, PlcOperation operation, Timestamp now) {
  if (!entries_.empty())
    now = std::max(now, entries_.back().created + std::chrono::milliseconds(1));
  by_did_[did].push_back(entries_.size());
  std::string cid = operation.cid().to_string();
  entries_.push_back({did, std::move(cid), now, std::move(operation)});
}

const PlcOperation* PlcDirectory::newest(std::string_view did) const {
  const auto found = by_did_.find(std::string(did));
  return found == by_did_.end() ? nullptr : &entries_[found->second.back()].operation;
}

nlohmann::ordered_json PlcDirectory::audit(std::string_view did) const {
  auto operations = nlohmann::ordered_json::array();
  const auto found = by_did_.find(std::string(did));
  if (found == by_did_.end()) return operations;
  for (const std::size_t index : found->second) operations.push_back(json_of(entries_[index]));
  return operations;
}

nlohmann::ordered_json PlcDirectory::exported(std::string_view after, std::size_t count) const {
  // An invalid or empty datetime stands for the beginning.
  const auto cursor = parse_datetime(after);
  auto entry = entries_.begin();
  if (cursor) {
    entry = std::upper_bound(
        entries_.begin(), entries_.end(), cursor->instant,
        [](Timestamp instant, const Entry& candidate) { return instant < candidate.created; });
  }
  auto operations = nlohmann::ordered_json::array();
  for (; entry != entries_.end() && operations.size() < count; ++entry) {
    operations.push_back(json_of(*entry));
  }
  return operations;
}

nlohmann::ordered_json PlcDirectory::json_of(const Entry& entry) {
  return {{"did", entry.did},
          {"operation", entry.operation.to_json()},
          {"cid", entry.cid},
          {"nullified", false},
          {"createdAt", format_datetime(entry.created)}};
}

}  // namespace skua::sim
