#include "identity/export_line.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "atproto/multikey.hpp"
#include "atproto/syntax.hpp"
#include "identity/did_document.hpp"
#include "identity/errc.hpp"

namespace skua::identity {
namespace {

// The directory has a hundred million lines: with nlohmann's, which the rest of the program has,
// reading them took two thirds of an import's time.
namespace bjson = boost::json;

constexpr std::string_view kDidKey = "did:key:";
constexpr std::size_t kMaxCid = 128;

/// The member at a path of names; null when something on the way is missing.
const bjson::value* member(const bjson::value& value,
                           std::initializer_list<std::string_view> path) {
  const bjson::value* at = &value;
  for (const auto name : path) {
    const auto* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains({name.data(), name.size()});
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string_view view(const bjson::value* value) {
  const auto* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

/// The text at a path, a view into the value; empty when there is none.
std::string_view text_at(const bjson::value& value, std::initializer_list<std::string_view> path) {
  return view(member(value, path));
}

/// The multikey of a did:key, if it is one of a curve that signs; else empty. The point of the
/// curve is not computed: this would take as long as the rest of a line, and a verification does it
/// anyway.
std::string multikey_of(std::string_view did_key) {
  if (!atproto::Multikey::parse_did_key(did_key)) return {};
  return std::string(did_key.substr(kDidKey.size()));
}

std::string pds_of(std::string_view url) {
  auto origin = pds_origin(url);
  return origin ? *std::move(origin) : std::string();
}

void read_operation(const bjson::value& operation, IdentityRow& row) {
  row.signing_key = multikey_of(text_at(operation, {"verificationMethods", "atproto"}));
  row.label_key = multikey_of(text_at(operation, {"verificationMethods", "atproto_label"}));
  row.pds = pds_of(text_at(operation, {"services", "atproto_pds", "endpoint"}));
  const auto* aliases = member(operation, {"alsoKnownAs"});
  if (aliases == nullptr || !aliases->is_array()) return;
  for (const auto& alias : aliases->get_array()) {
    row.handle = handle_of_alias(view(&alias));
    if (!row.handle.empty()) return;
  }
}

/// The form from before plc_operation.
void read_create(const bjson::value& operation, IdentityRow& row) {
  row.signing_key = multikey_of(text_at(operation, {"signingKey"}));
  std::string service(text_at(operation, {"service"}));
  // The directory adds the scheme, too.
  if (!service.empty() && !service.starts_with("http")) service.insert(0, "https://");
  row.pds = pds_of(service);
  row.handle = handle_of_alias("at://" + std::string(text_at(operation, {"handle"})));
}

/// Empty: it is not there, or has another form.
std::string cid_of(const bjson::value& line) {
  const auto cid = text_at(line, {"cid"});
  const auto is_of_base32 = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); };
  if (cid.size() > kMaxCid || !std::ranges::all_of(cid, is_of_base32)) return {};
  return std::string(cid);
}

}  // namespace

Result<ExportLine> parse_export_line(std::string_view text) {
  // Most lines fit: nothing is allocated for them.
  std::array<unsigned char, 8 * 1024> buffer{};
  bjson::monotonic_resource memory(buffer.data(), buffer.size());
  ErrorCode error;
  const auto line = bjson::parse({text.data(), text.size()}, error, &memory);
  if (error) return errc::export_line;
  ExportLine result;
  result.row.did = text_at(line, {"did"});
  const auto created = parse_datetime(text_at(line, {"createdAt"}));
  if (!atproto::is_did(result.row.did) || !created) return errc::export_line;
  result.row.operation_at = created->instant;
  result.cid = cid_of(line);
  const auto* nullified = member(line, {"nullified"});
  result.nullified = nullified != nullptr && nullified->is_bool() && nullified->get_bool();

  const auto type = text_at(line, {"operation", "type"});
  const auto* operation = member(line, {"operation"});
  const auto* previous = member(line, {"operation", "prev"});
  if (previous != nullptr && previous->is_null() && !result.nullified) {
    result.row.created_at = created->instant;
  }
  if (type == "plc_operation") {
    read_operation(*operation, result.row);
  } else if (type == "create") {
    read_create(*operation, result.row);
  } else if (type != "plc_tombstone") {
    return errc::export_line;
  }
  return result;
}

std::optional<ExportPosition> export_position(std::string_view text) {
  ErrorCode error;
  const auto line = bjson::parse({text.data(), text.size()}, error);
  if (error) return std::nullopt;
  const auto created = parse_datetime(text_at(line, {"createdAt"}));
  std::string cid = cid_of(line);
  if (!created || cid.empty()) return std::nullopt;
  return ExportPosition{created->instant, std::move(cid)};
}

void NewestOperations::add(IdentityRow row) {
  const auto [place, is_new] = rows_.try_emplace(row.did);
  const auto created_at = row.created_at ? row.created_at : place->second.created_at;
  if (is_new || place->second.operation_at <= row.operation_at) place->second = std::move(row);
  place->second.created_at = created_at;
}

std::vector<IdentityRow> NewestOperations::take(Timestamp fetched_at) {
  std::vector<IdentityRow> rows;
  rows.reserve(rows_.size());
  for (auto& [did, row] : rows_) {
    row.fetched_at = fetched_at;
    rows.push_back(std::move(row));
  }
  rows_.clear();
  return rows;
}

}  // namespace skua::identity
