#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "identity/identity_table.hpp"

namespace skua::identity {

/// Operations of an export, of which the newest of each DID counts, whatever their order. One
/// thread.
class NewestOperations {
 public:
  /// Takes an operation that is not nullified, with `operation_at`.
  void add(IdentityRow row);

  /// The number of DIDs.
  std::size_t size() const { return rows_.size(); }

  /// One row for each DID, for import_identities, and none left. `fetched_at`: of all rows.
  std::vector<IdentityRow> take(Timestamp fetched_at);

 private:
  std::unordered_map<std::string, IdentityRow, SeededHash> rows_;
};

}  // namespace skua::identity
