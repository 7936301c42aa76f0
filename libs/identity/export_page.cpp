#include "identity/export_page.hpp"

#include <functional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/seeded_hash.hpp"
#include "identity/export_line.hpp"

namespace skua::identity {
namespace {

using store::PlcCursor;

constexpr std::array<std::chrono::microseconds, 3> kOverlaps{
    ExportPages::kOverlap, std::chrono::milliseconds(1), std::chrono::microseconds(0)};

/// One page while it is read.
class PageReader {
 public:
  PageReader(const PlcCursor& cursor, Timestamp after, Timestamp asked_at,
             const std::unordered_set<std::size_t>& dropped_before)
      : after_(after), asked_at_(asked_at), dropped_before_(dropped_before), from_(cursor) {
    page_.cursor = cursor;
    // Their times are not stored: they stay until the cursor is a second further.
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

  /// Of a line that the next page may have again, and whose CID the cursor does not keep.
  void drop(ExportDrop reason, std::string_view line) {
    const std::size_t hash = seeded_hash(line);
    if (dropped_.insert(hash).second && !dropped_before_.contains(hash)) count(reason);
  }

  bool is_new(const ExportPosition& position) {
    // Whatever the directory's clock shows, later operations lie behind the cursor.
    const Timestamp reached = std::min(position.created_at, asked_at_);
    page_.cursor.newest = std::max(page_.cursor.newest, reached);
    const auto [place, is_new] = times_.try_emplace(position.cid, position.created_at);
    place->second = position.created_at;
    return is_new;
  }

  /// Of the operations that the next page repeats; if they are too many, the newest.
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
  /// The operations of this page and those shortly before the cursor, by CID.
  std::unordered_map<std::string, Timestamp, SeededHash> times_;
  std::unordered_set<std::size_t> dropped_;
  std::size_t lines_ = 0;
  /// Lines with a time behind the requested one.
  std::size_t requested_ = 0;
  bool has_future_ = false;
};

}  // namespace

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

}  // namespace skua::identity
