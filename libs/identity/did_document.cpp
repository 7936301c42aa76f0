#include "identity/did_document.hpp"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "atproto/multikey.hpp"
#include "atproto/signing.hpp"
#include "atproto/syntax.hpp"
#include "base/ascii.hpp"
#include "identity/errc.hpp"
#include "identity/json_field.hpp"
#include "transport/endpoint.hpp"

namespace skua::identity {
namespace {

using nlohmann::json;

constexpr std::string_view kAlias = "at://";

/// The first entry of an array whose id is `fragment`, alone or after the DID; null: none.
const json* entry(const json& document, const char* array, std::string_view did,
                  std::string_view fragment) {
  const auto entries = document.find(array);
  if (entries == document.end() || !entries->is_array()) return nullptr;
  for (const auto& candidate : *entries) {
    auto id = text_field(candidate, "id");
    if (id.starts_with(did)) id.remove_prefix(did.size());
    if (id == fragment) return &candidate;
  }
  return nullptr;
}

/// The point of a key from before Multikey: the type names the curve, not the bytes.
Result<atproto::VerifyingKey> legacy_key(atproto::Curve curve, std::string_view multibase) {
  if (!multibase.starts_with('z')) return errc::document_key;
  const auto point = atproto::decode_base58(multibase.substr(1));
  if (!point) return errc::document_key;
  return atproto::VerifyingKey::from_point(curve, *point);
}

Result<atproto::VerifyingKey> key_of(const json& method) {
  const auto type = text_field(method, "type");
  const auto multibase = text_field(method, "publicKeyMultibase");
  if (type == "Multikey") {
    const auto key = atproto::Multikey::parse(multibase);
    if (!key) return errc::document_key;
    return atproto::VerifyingKey::from_multikey(*key);
  }
  if (type == "EcdsaSecp256k1VerificationKey2019") {
    return legacy_key(atproto::Curve::k256, multibase);
  }
  if (type == "EcdsaSecp256r1VerificationKey2019") {
    return legacy_key(atproto::Curve::p256, multibase);
  }
  return errc::document_key;
}

/// Most accounts are no labelers: a key that cannot be used is no fault of the document.
std::optional<atproto::Multikey> label_key_of(const json& document, std::string_view did) {
  const auto* method = entry(document, "verificationMethod", did, "#atproto_label");
  if (method == nullptr) return std::nullopt;
  const auto key = key_of(*method);
  if (!key) return std::nullopt;
  return key->multikey();
}

/// The origin of a URL; nothing: it is no URL.
std::optional<std::string> origin_of(std::string_view url) {
  auto endpoint = transport::parse_http_url(url);
  if (!endpoint) return std::nullopt;
  endpoint->path.clear();
  endpoint->query.clear();
  return endpoint->http_url();
}

/// The same for its address.
std::string labeler_of(const json& document, std::string_view did) {
  const auto* service = entry(document, "service", did, "#atproto_labeler");
  if (service == nullptr || text_field(*service, "type") != "AtprotoLabeler") return {};
  auto origin = origin_of(text_field(*service, "serviceEndpoint"));
  return origin ? *std::move(origin) : std::string();
}

}  // namespace

Result<std::string> pds_origin(std::string_view url) {
  auto origin = origin_of(url);
  if (!origin) return errc::document_pds;
  return *std::move(origin);
}

std::string handle_of_alias(std::string_view alias) {
  if (!alias.starts_with(kAlias)) return {};
  alias.remove_prefix(kAlias.size());
  if (!atproto::is_handle(alias)) return {};
  return ascii_lower(alias);
}

Result<Account> parse_did_document(std::string_view text, std::string_view did) {
  const auto document = json::parse(text, nullptr, false);
  if (!document.is_object()) return errc::document_json;
  if (text_field(document, "id") != did) return errc::document_of_other;

  const auto* method = entry(document, "verificationMethod", did, "#atproto");
  if (method == nullptr) return errc::document_without_key;
  const auto key = key_of(*method);
  if (!key) return errc::document_key;

  const auto* service = entry(document, "service", did, "#atproto_pds");
  if (service == nullptr || text_field(*service, "type") != "AtprotoPersonalDataServer") {
    return errc::document_without_pds;
  }
  auto pds = pds_origin(text_field(*service, "serviceEndpoint"));
  if (!pds) return pds.error();

  std::string handle;
  if (const auto aliases = document.find("alsoKnownAs");
      aliases != document.end() && aliases->is_array()) {
    for (const auto& alias : *aliases) {
      if (!alias.is_string()) continue;
      handle = handle_of_alias(alias.get_ref<const std::string&>());
      if (!handle.empty()) break;
    }
  }
  return Account{.did = std::string(did),
                 .key = key->multikey(),
                 .pds = *std::move(pds),
                 .handle = std::move(handle),
                 .label_key = label_key_of(document, did),
                 .labeler = labeler_of(document, did)};
}

}  // namespace skua::identity
