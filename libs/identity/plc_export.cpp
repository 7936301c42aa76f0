#include "identity/plc_export.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "atproto/multikey.hpp"
#include "atproto/syntax.hpp"
#include "identity/did_document.hpp"
#include "identity/errc.hpp"
#include "transport/endpoint.hpp"

namespace skua::identity {
namespace {

// The directory has a hundred million lines: with nlohmann's, which the rest of the program has,
// reading them took two thirds of an import's time.
namespace bjson = boost::json;
using std::chrono::seconds;

constexpr std::string_view kDidKey = "did:key:";
constexpr std::size_t kMaxLineBytes = 64 * 1024;
constexpr std::uint64_t kProgressEvery = 100'000;
constexpr int kPageLines = 1000;
constexpr std::size_t kMaxPageBytes = 64 * 1024 * 1024;
constexpr int kMaxPageFailures = 8;
constexpr seconds kFirstWait{1};
constexpr seconds kLongestPageWait{60};

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

/// The multikey of a did:key, if it is one of a curve that signs; else empty. Finding its point
/// would take as long as all the rest of a line, and who verifies with it does so anyway.
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
  // Most lines fit: nothing is allocated for them.
  std::array<unsigned char, 8 * 1024> buffer{};
  bjson::monotonic_resource memory(buffer.data(), buffer.size());
  bjson::error_code error;
  const auto line = bjson::parse({text.data(), text.size()}, error, &memory);
  if (error) return errc::export_line;
  ExportLine result;
  result.row.did = text_at(line, {"did"});
  const auto created = parse_datetime(text_at(line, {"createdAt"}));
  if (!atproto::is_did(result.row.did) || !created) return errc::export_line;
  result.row.operation_at = created->instant;
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

PlcImport::PlcImport(store::Session& session, const Clock& clock, std::size_t batch)
    : session_(session), clock_(clock), batch_(batch) {}

void PlcImport::add(std::string_view line) {
  if (line.size() > kMaxLineBytes) {
    add_bad();
    return;
  }
  ++metrics_.lines;
  auto read = parse_export_line(line);
  if (!read) {
    ++metrics_.bad;
    return;
  }
  auto& row = read->row;
  metrics_.newest = std::max(metrics_.newest, *row.operation_at);
  if (read->nullified) {
    ++metrics_.nullified;
    return;
  }
  const auto [place, is_new] = rows_.try_emplace(row.did);
  const auto created_at = row.created_at ? row.created_at : place->second.created_at;
  if (is_new || place->second.operation_at <= row.operation_at) place->second = std::move(row);
  place->second.created_at = created_at;
  if (rows_.size() >= batch_) flush();
}

void PlcImport::add_bad() {
  ++metrics_.lines;
  ++metrics_.bad;
}

void PlcImport::finish() {
  flush();
  wait();
}

void PlcImport::wait() {
  if (writing_.valid()) metrics_.written += writing_.get();
}

void PlcImport::flush() {
  if (rows_.empty()) return;
  std::vector<IdentityRow> rows;
  rows.reserve(rows_.size());
  const auto now = clock_.now();
  for (auto& [did, row] : rows_) {
    row.fetched_at = now;
    rows.push_back(std::move(row));
  }
  rows_.clear();
  wait();
  // PostgreSQL takes about as long over a batch as reading the next one does.
  writing_ = std::async(std::launch::async, [this, rows = std::move(rows)]() mutable {
    return import_identities(session_, std::move(rows));
  });
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
    if (import.metrics().lines >= next_progress) {
      progress(import.metrics());
      next_progress = import.metrics().lines + kProgressEvery;
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
      if (!passing || ++failures == kMaxPageFailures) {
        // What came before counts: whoever goes on does so behind it.
        import.finish();
        return error;
      }
      const auto own = std::min(kLongestPageWait, kFirstWait * (1 << failures));
      const auto asked =
          answer ? transport::asked_wait(*answer, system_clock().now()) : std::optional<seconds>();
      source.wait(std::min(kLongestPageWait * 5, asked.value_or(own)), error);
      continue;
    }
    failures = 0;
    const int lines = add_page(answer->body, import);
    const auto reached = import.metrics().newest;
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
    if (import.metrics().lines >= next_progress) {
      progress(import.metrics());
      next_progress = import.metrics().lines + kProgressEvery;
    }
  }
  import.finish();
  return {};
}

}  // namespace skua::identity
