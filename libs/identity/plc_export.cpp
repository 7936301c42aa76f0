#include "identity/plc_export.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "atproto/syntax.hpp"
#include "identity/did_document.hpp"
#include "identity/errc.hpp"
#include "transport/endpoint.hpp"

namespace skua::identity {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr std::size_t kMaxLineBytes = 64 * 1024;
constexpr std::uint64_t kProgressEvery = 100'000;
constexpr int kPageLines = 1000;
constexpr std::size_t kMaxPageBytes = 64 * 1024 * 1024;
constexpr int kMaxFailures = 8;
constexpr seconds kFirstWait{1};
constexpr seconds kLongestWait{60};

/// The member at a path of names; null when something on the way is missing.
const json* member(const json& value, std::initializer_list<const char*> path) {
  const json* at = &value;
  for (const char* name : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(name);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string text_of(const json& value, std::initializer_list<const char*> path) {
  const auto* found = member(value, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

/// The multikey of a did:key, if it is a key that signs; else empty.
std::string multikey_of(const std::string& did_key) {
  const auto key = atproto::Multikey::parse_did_key(did_key);
  return key && atproto::VerifyingKey::from_multikey(*key) ? key->to_string() : std::string();
}

std::string pds_of(const std::string& url) {
  auto origin = pds_origin(url);
  return origin ? *std::move(origin) : std::string();
}

void read_operation(const json& operation, IdentityRow& row) {
  row.signing_key = multikey_of(text_of(operation, {"verificationMethods", "atproto"}));
  row.pds = pds_of(text_of(operation, {"services", "atproto_pds", "endpoint"}));
  const auto* aliases = member(operation, {"alsoKnownAs"});
  if (aliases == nullptr || !aliases->is_array()) return;
  for (const auto& alias : *aliases) {
    if (alias.is_string()) row.handle = handle_of_alias(alias.get_ref<const std::string&>());
    if (!row.handle.empty()) return;
  }
}

/// The form from before plc_operation.
void read_create(const json& operation, IdentityRow& row) {
  row.signing_key = multikey_of(text_of(operation, {"signingKey"}));
  auto service = text_of(operation, {"service"});
  // The directory adds the scheme, too.
  if (!service.empty() && !service.starts_with("http")) service.insert(0, "https://");
  row.pds = pds_of(service);
  row.handle = handle_of_alias("at://" + text_of(operation, {"handle"}));
}

/// The export's own address, from that of the directory or of the export.
std::string export_url(transport::Endpoint endpoint, Timestamp after) {
  if (endpoint.path == "/") endpoint.path = "/export";
  endpoint.query = fmt::format("count={}", kPageLines);
  if (after != Timestamp{}) endpoint.query += fmt::format("&after={}", format_datetime(after));
  return endpoint.http_url();
}

/// Returns the number of lines.
int add_page(std::string_view body, PlcImport& import) {
  int lines = 0;
  while (!body.empty()) {
    const auto end = std::min(body.find('\n'), body.size());
    if (end > 0) {
      import.add(body.substr(0, end));
      ++lines;
    }
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return lines;
}

}  // namespace

Result<ExportLine> parse_export_line(std::string_view text) {
  const auto line = json::parse(text, nullptr, false);
  ExportLine result;
  result.row.did = text_of(line, {"did"});
  const auto created = parse_datetime(text_of(line, {"createdAt"}));
  if (!atproto::is_did(result.row.did) || !created) return errc::export_line;
  result.row.operation_at = created->instant;
  const auto* nullified = member(line, {"nullified"});
  result.nullified = nullified != nullptr && nullified->is_boolean() && nullified->get<bool>();

  const auto type = text_of(line, {"operation", "type"});
  const auto* operation = member(line, {"operation"});
  if (type == "plc_operation") {
    read_operation(*operation, result.row);
  } else if (type == "create") {
    read_create(*operation, result.row);
  } else if (type != "plc_tombstone") {
    return errc::export_line;
  }
  return result;
}

PlcImport::PlcImport(store::Session& session, const Clock& clock, std::size_t batch)
    : session_(session), clock_(clock), batch_(batch) {}

void PlcImport::add(std::string_view line) {
  if (line.size() > kMaxLineBytes) {
    add_bad();
    return;
  }
  ++figures_.lines;
  auto read = parse_export_line(line);
  if (!read) {
    ++figures_.bad;
    return;
  }
  auto& row = read->row;
  figures_.newest = std::max(figures_.newest, *row.operation_at);
  if (read->nullified) {
    ++figures_.nullified;
    return;
  }
  const auto place = rows_.try_emplace(row.did, row).first;
  if (place->second.operation_at <= row.operation_at) place->second = std::move(row);
  if (rows_.size() >= batch_) finish();
}

void PlcImport::add_bad() {
  ++figures_.lines;
  ++figures_.bad;
}

void PlcImport::finish() {
  std::vector<IdentityRow> rows;
  rows.reserve(rows_.size());
  const auto now = clock_.now();
  for (auto& [did, row] : rows_) {
    row.fetched_at = now;
    rows.push_back(std::move(row));
  }
  rows_.clear();
  figures_.written += import_identities(session_, std::move(rows));
}

Result<void> import_lines(std::istream& in, PlcImport& import, const ImportProgress& progress) {
  std::vector<char> buffer(kMaxLineBytes + 1);
  auto next_progress = kProgressEvery;
  while (true) {
    in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto length = static_cast<std::size_t>(in.gcount());
    if (in.bad()) break;
    if (in.fail() && !in.eof()) {
      // Longer than any operation may be: the rest of the line goes with it.
      in.clear();
      in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      import.add_bad();
      continue;
    }
    const std::string_view line(buffer.data(), length - (in.eof() || length == 0 ? 0 : 1));
    if (!line.empty()) import.add(line);
    if (in.eof()) break;
    if (import.figures().lines >= next_progress) {
      progress(import.figures());
      next_progress = import.figures().lines + kProgressEvery;
    }
  }
  import.finish();
  if (in.bad()) return errc::export_unreadable;
  return {};
}

Result<void> import_pages(transport::HttpClient& http, const ExportSource& source,
                          PlcImport& import, const ImportProgress& progress) {
  const auto endpoint = transport::parse_http_url(source.url);
  if (!endpoint) return endpoint.error();
  auto after = source.after;
  auto newest = source.after;
  int failures = 0;
  auto next_progress = kProgressEvery;
  while (true) {
    transport::HttpRequest request;
    request.url = export_url(*endpoint, after);
    request.origin = transport::HostOrigin::configured;
    request.max_body_bytes = kMaxPageBytes;
    const auto answer = http.get(std::move(request));
    if (!answer || answer->status != 200) {
      const bool limited = answer && answer->status == 429;
      const bool passing =
          answer ? limited || answer->status >= 500 : is_server_failure(answer.error());
      const ErrorCode error = !answer   ? answer.error()
                              : limited ? make_error_code(errc::rate_limited)
                                        : make_error_code(errc::server_failed);
      if (!passing || ++failures == kMaxFailures) {
        // What came before counts: whoever goes on does so behind it.
        import.finish();
        return error;
      }
      const auto own = std::min(kLongestWait, kFirstWait * (1 << failures));
      const auto asked =
          answer ? transport::asked_wait(*answer, system_clock().now()) : std::optional<seconds>();
      source.wait(std::min(kLongestWait * 5, asked.value_or(own)));
      continue;
    }
    failures = 0;
    const int lines = add_page(answer->body, import);
    const auto reached = import.figures().newest;
    if (lines > 0 && reached > newest) {
      // Several operations may have been made at one instant and the page have ended among them:
      // the next page begins a little earlier.
      newest = reached;
      after = reached - std::chrono::milliseconds(1);
    } else if (lines >= kPageLines && after < newest) {
      after = newest;  // they alone fill a page
    } else if (lines >= kPageLines) {
      import.finish();
      return errc::export_unreadable;  // what we ask for makes no difference
    } else {
      break;
    }
    if (import.figures().lines >= next_progress) {
      progress(import.figures());
      next_progress = import.figures().lines + kProgressEvery;
    }
  }
  import.finish();
  return {};
}

}  // namespace skua::identity
