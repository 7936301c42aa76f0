#include "identity/newest_operations.hpp"

#include <utility>

namespace skua::identity {

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
