#include "documents/did_document.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "documents/errc.hpp"
#include "documents/plc_export.hpp"
#include "transport/endpoint.hpp"
#include "transport/errc.hpp"

namespace skua::documents {

namespace {

using nlohmann::json;

constexpr std::string_view kAlias = "at://";

/// Returns the first entry of an array that `read` accepts, among the entries whose id is
/// `fragment`, alone or after the DID. If there is none, returns the error of the first such entry,
/// or `missing` without such an entry.
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
    // A method with another controller is not a key of the account.
    const auto controller = text_field(entry, "controller");
    if (!controller.empty() && controller != did) continue;
    auto value = read(entry);
    if (value) return value;
    if (!first) first = std::move(value);
  }
  return first ? *std::move(first) : missing;
}

/// Reads a key in the form from before Multikey. The type names the curve, so the bytes are only
/// the point.
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

constexpr std::string_view kWeb = "did:web:";
constexpr std::string_view kLocalhost = "localhost";
constexpr std::size_t kMaxDocumentBytes = 256 * 1024;

/// Returns `localhost:1234` for `localhost%3A1234`, and an empty text for other ids.
std::string local_host(std::string_view id) {
  if (id == kLocalhost) return std::string(id);
  if (!id.starts_with(kLocalhost)) return {};
  id.remove_prefix(kLocalhost.size());
  if (!id.starts_with("%3A") && !id.starts_with("%3a")) return {};
  const auto port = id.substr(3);
  const bool digits =
      !port.empty() && port.size() <= 5 &&
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::string(kLocalhost) + ":" + std::string(port) : std::string();
}

Result<std::string> web_url(std::string_view id, const DocumentOptions& options) {
  constexpr std::string_view kPath = "/.well-known/did.json";
  // In a did:web, a colon begins a path and a percent sign begins a port. atproto has neither,
  // except during development.
  if (const auto host = local_host(id); !host.empty()) {
    if (!options.allow_private_hosts) return transport::errc::address_not_public;
    return "http://" + host + std::string(kPath);
  }
  if (!atproto::is_handle(id)) return errc::did_method;  // a handle has the syntax of a domain name
  const std::string port = options.https_port == 443 ? "" : fmt::format(":{}", options.https_port);
  return "https://" + std::string(id) + port + std::string(kPath);
}

Result<Account> account_of_answer(const std::string& did, const transport::HttpAnswer& answer) {
  switch (answer.status) {
    case 200:
      return parse_did_document(answer.body, did);
    case 404:
      return errc::did_not_found;
    case 410:
      return errc::did_tombstoned;
    case 429:
      return errc::rate_limited;
    default:
      return errc::server_failed;
  }
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
  // Most accounts are not labelers, so an unusable key for labels is not an error of the document.
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

Result<std::string> document_url(std::string_view did, const DocumentOptions& options) {
  if (!atproto::is_did(did)) return errc::did_syntax;
  if (atproto::is_plc_did(did)) {
    if (!atproto::check_account_did(did)) return errc::did_syntax;
    std::string_view directory = options.plc_url;
    while (directory.ends_with('/')) directory.remove_suffix(1);
    return std::string(directory) + "/" + std::string(did);
  }
  if (did.starts_with(kWeb)) {
    return web_url(did.substr(kWeb.size()), options);
  }
  return errc::did_method;
}

std::string failure_text(std::string_view did, const ErrorCode& error,
                         const DocumentOptions& options) {
  const bool is_ours = error == errc::busy || error == errc::stopped;
  const bool is_of_network =
      is_server_failure(error) || error.category() == make_error_code(transport::errc{}).category();
  const auto url = document_url(did, options);
  if (is_ours || !is_of_network || !url) return error.message();
  if (atproto::is_plc_did(did)) {
    return fmt::format("the PLC directory {}: {}; --plc URL names another directory",
                       options.plc_url, error.message());
  }
  const auto host = transport::parse_http_url(*url);
  return fmt::format("{}: {}", host ? host->authority() : *url, error.message());
}

Result<transport::HttpRequest> document_request(const std::string& did,
                                                const DocumentOptions& options) {
  auto url = document_url(did, options);
  if (!url) return url.error();
  transport::HttpRequest request;
  request.url = *std::move(url);
  request.max_body_bytes = kMaxDocumentBytes;
  if (atproto::is_plc_did(did)) request.origin = transport::HostOrigin::configured;
  return request;
}

Result<Account> read_document(const std::string& did, const Result<transport::HttpAnswer>& answer) {
  if (!answer) return answer.error();
  return read_input<Result<Account>>(did, [&] { return account_of_answer(did, *answer); });
}

}  // namespace skua::documents
