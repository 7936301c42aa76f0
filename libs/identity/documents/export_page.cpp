#include "documents/export_page.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <unordered_map>
#include <utility>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "atproto/signing.hpp"
#include "atproto/syntax.hpp"
#include "base/seeded_hash.hpp"
#include "documents/did_document.hpp"
#include "documents/errc.hpp"

namespace skua::documents {

namespace {

// The directory has a hundred million lines. With nlohmann's parser, which the rest of the program
// uses, reading them took two thirds of an import's time.
namespace bjson = boost::json;

constexpr std::string_view kDidKey = "did:key:";
constexpr std::size_t kMaxCid = 128;

/// Returns the member at a path of names, or null if a part of the path is missing.
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

/// Returns the text at a path, as a view into the value, or an empty text if there is none.
std::string_view text_at(const bjson::value& value, std::initializer_list<std::string_view> path) {
  return view(member(value, path));
}

/// Returns the multikey of a did:key if its curve is one that signs; otherwise an empty text. Does
/// not check that the point lies on the curve, because this would take as long as the rest of a
/// line, and a verification checks this anyway.
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

/// Reads the form that operations had before plc_operation.
void read_create(const bjson::value& operation, IdentityRow& row) {
  row.signing_key = multikey_of(text_at(operation, {"signingKey"}));
  std::string service(text_at(operation, {"service"}));
  // The directory adds the scheme in the same way.
  if (!service.empty() && !service.starts_with("http")) service.insert(0, "https://");
  row.pds = pds_of(service);
  row.handle = handle_of_alias("at://" + std::string(text_at(operation, {"handle"})));
}

/// Returns an empty text if the line has no CID, or a text of another form.
std::string cid_of(const bjson::value& line) {
  const auto cid = text_at(line, {"cid"});
  const auto is_of_base32 = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); };
  if (cid.size() > kMaxCid || !std::ranges::all_of(cid, is_of_base32)) return {};
  return std::string(cid);
}

using tables::PlcCursor;

constexpr std::array<std::chrono::microseconds, 3> kOverlaps{
    ExportPages::kOverlap, std::chrono::milliseconds(1), std::chrono::microseconds(0)};

/// Collects the content of one page.
class PageReader {
 public:
  PageReader(const PlcCursor& cursor, Timestamp after, Timestamp asked_at,
             const std::unordered_set<std::size_t>& dropped_before)
      : after_(after), asked_at_(asked_at), dropped_before_(dropped_before), from_(cursor) {
    page_.cursor = cursor;
    // The times of these operations are not stored. With the time of the cursor, their CIDs are
    // kept until the cursor is a second further.
    for (const std::string& cid : cursor.cids) times_.emplace(cid, cursor.newest);
  }

  void read(std::string_view line) {
    ++lines_;
    if (line.size() > kMaxExportLineBytes) return drop(ExportDrop::TooLong, line);
    auto operation = parse_export_line(line);
    if (operation && operation->cid.empty()) return drop(ExportDrop::Malformed, line);
    const auto position = operation ? ExportPosition{*operation->row.operation_at, operation->cid}
                                    : export_position(line).value_or(ExportPosition{});
    if (position.cid.empty()) return drop(ExportDrop::Malformed, line);
    if (position.created_at <= after_) return drop(ExportDrop::NotRequested, line);
    ++requested_;
    if (position.created_at > asked_at_ + kExportClockSkew) {
      has_future_ = true;
      return drop(ExportDrop::Future, line);
    }
    if (!is_new(position)) return;
    if (!operation) {
      count(ExportDrop::Malformed);
    } else if (operation->nullified) {
      count(ExportDrop::Nullified);
    } else {
      ++page_.applied;
      operations_.add(std::move(operation->row));
    }
  }

  ExportPage result() && {
    page_.rows = operations_.take(asked_at_);
    page_.is_stuck = lines_ > 0 && requested_ == 0;
    page_.is_end = !page_.is_stuck && (lines_ < kExportPageLines || has_future_);
    if (!page_.is_stuck) {
      page_.cursor.current_at = page_.is_end ? asked_at_ : page_.cursor.newest;
    }
    page_.cursor.cids = recent_cids();
    return std::move(page_);
  }

  bool has_advanced() const { return page_.cursor.newest > from_.newest; }
  std::unordered_set<std::size_t> take_dropped() { return std::move(dropped_); }

 private:
  void count(ExportDrop reason) { ++page_.dropped.at(static_cast<std::size_t>(reason)); }

  /// Drops a line that the next page may repeat, and whose CID the cursor does not keep. Counts a
  /// repeated line only once.
  void drop(ExportDrop reason, std::string_view line) {
    const std::size_t hash = seeded_hash(line);
    if (dropped_.insert(hash).second && !dropped_before_.contains(hash)) count(reason);
  }

  bool is_new(const ExportPosition& position) {
    // The cursor never exceeds the time of the request, so that later operations lie behind the
    // cursor even if the directory's clock is wrong.
    const Timestamp reached = std::min(position.created_at, asked_at_);
    page_.cursor.newest = std::max(page_.cursor.newest, reached);
    const auto [place, is_new] = times_.try_emplace(position.cid, position.created_at);
    place->second = position.created_at;
    return is_new;
  }

  /// Returns the CIDs of the operations that the next page repeats. If there are too many, returns
  /// the newest.
  std::vector<std::string> recent_cids() const {
    std::vector<std::pair<Timestamp, std::string>> recent;
    for (const auto& [cid, time] : times_) {
      if (time > page_.cursor.newest - ExportPages::kOverlap) recent.emplace_back(time, cid);
    }
    std::ranges::sort(recent, std::greater());
    recent.resize(std::min(recent.size(), ExportPages::kMaxCids));
    std::vector<std::string> cids;
    cids.reserve(recent.size());
    for (auto& [time, cid] : recent) cids.push_back(std::move(cid));
    return cids;
  }

  const Timestamp after_;
  const Timestamp asked_at_;
  const std::unordered_set<std::size_t>& dropped_before_;
  const PlcCursor& from_;
  ExportPage page_;
  NewestOperations operations_;
  /// The times of the operations of this page and of those shortly before the cursor, by CID.
  std::unordered_map<std::string, Timestamp, SeededHash> times_;
  std::unordered_set<std::size_t> dropped_;
  std::size_t lines_ = 0;
  /// The number of lines with a time after the requested time.
  std::size_t requested_ = 0;
  bool has_future_ = false;
};

}  // namespace

Result<ExportLine> parse_export_line(std::string_view text) {
  // Most lines fit into this buffer, so that nothing is allocated for them.
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

std::string export_url(transport::Endpoint endpoint, Timestamp after) {
  if (endpoint.path == "/") endpoint.path = "/export";
  endpoint.query = fmt::format("count={}", kExportPageLines);
  if (after != Timestamp{}) endpoint.query += fmt::format("&after={}", format_datetime(after));
  return endpoint.http_url();
}

const char* export_drop_name(std::size_t index) {
  static constexpr std::array<const char*, kExportDrops> kNames{"too_long", "malformed", "future",
                                                                "not_requested", "nullified"};
  return kNames.at(index);
}

Timestamp ExportPages::after(const PlcCursor& cursor) const {
  return cursor.newest - kOverlaps.at(narrowed_);
}

ExportPage ExportPages::read(std::string_view body, const PlcCursor& cursor, Timestamp asked_at) {
  PageReader reader(cursor, after(cursor), asked_at, dropped_);
  for_each_line(body, [&](std::string_view line) { reader.read(line); });
  const bool has_advanced = reader.has_advanced();
  dropped_ = reader.take_dropped();
  ExportPage page = std::move(reader).result();
  if (page.is_end || has_advanced) {
    narrowed_ = 0;
  } else if (narrowed_ + 1 < kOverlaps.size()) {
    ++narrowed_;
  } else {
    page.is_stuck = true;
  }
  return page;
}

}  // namespace skua::documents
