#include "plc_directory.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace skua::sim {

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
  // An invalid or empty datetime means the beginning.
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
