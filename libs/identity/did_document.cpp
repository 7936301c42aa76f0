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

/// The first entry of an array that `read` accepts, among those whose id is `fragment`, alone or
/// after the DID. Error: that of the first of them, or `missing` if there is none.
template <class Value>
Result<Value> first_valid(const json& document, const char* array, std::string_view did,
                          std::string_view fragment, Result<Value> (*read)(const json& entry),
                          errc missing) {
  const auto entries = document.find(array);
  if (entries == document.end() || !entries->is_array()) return missing;
  std::optional<Result<Value>> first;
  for (const auto& entry : *entries) {
    auto id = text_field(entry, "id");
    if (id.starts_with(did)) id.remove_prefix(did.size());
    if (id != fragment) continue;
    // A method of another controller is not a key of the account.
    const auto controller = text_field(entry, "controller");
    if (!controller.empty() && controller != did) continue;
    auto value = read(entry);
    if (value) return value;
    if (!first) first = std::move(value);
  }
  return first ? *std::move(first) : missing;
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
  Result<atproto::VerifyingKey> key = errc::document_key;
  if (type == "Multikey") {
    const auto multikey = atproto::Multikey::parse(multibase);
    if (multikey) key = atproto::VerifyingKey::from_multikey(*multikey);
  } else if (type == "EcdsaSecp256k1VerificationKey2019") {
    key = legacy_key(atproto::Curve::k256, multibase);
  } else if (type == "EcdsaSecp256r1VerificationKey2019") {
    key = legacy_key(atproto::Curve::p256, multibase);
  }
  if (!key) return errc::document_key;
  return key;
}

Result<std::string> pds_of_service(const json& service) {
  if (text_field(service, "type") != "AtprotoPersonalDataServer") return errc::document_without_pds;
  return pds_origin(text_field(service, "serviceEndpoint"));
}

Result<std::string> labeler_of_service(const json& service) {
  if (text_field(service, "type") != "AtprotoLabeler") return errc::document_without_pds;
  return pds_origin(text_field(service, "serviceEndpoint"));
}

}  // namespace

Result<std::string> pds_origin(std::string_view url) {
  auto endpoint = transport::parse_http_url(url);
  if (!endpoint) return errc::document_pds;
  endpoint->path.clear();
  endpoint->query.clear();
  return endpoint->http_url();
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

  const auto key = first_valid(document, "verificationMethod", did, "#atproto", &key_of,
                               errc::document_without_key);
  auto pds = first_valid(document, "service", did, "#atproto_pds", &pds_of_service,
                         errc::document_without_pds);
  // Most accounts are no labelers: what cannot be used is no fault of the document.
  const auto label_key = first_valid(document, "verificationMethod", did, "#atproto_label", &key_of,
                                     errc::document_without_key);
  // A labeler needs no repository.
  if (!label_key) {
    if (!key) return key.error();
    if (!pds) return pds.error();
  }
  auto labeler = first_valid(document, "service", did, "#atproto_labeler", &labeler_of_service,
                             errc::document_without_pds);

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
                 .key = key ? std::optional(key->multikey()) : std::nullopt,
                 .pds = pds ? *std::move(pds) : std::string(),
                 .handle = std::move(handle),
                 .label_key = label_key ? std::optional(label_key->multikey()) : std::nullopt,
                 .labeler = labeler ? *std::move(labeler) : std::string()};
}

}  // namespace skua::identity
