#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "change_feed/change_event.hpp"
#include "change_feed/change_filter.hpp"
#include "feed/leases/take_lease.hpp"
#include "store/session.hpp"

namespace skua::change_feed {

/// The changes of a lease, in their order. There is at least one.
struct LeasedBatch {
  feed::LeaseName lease;
  std::vector<std::shared_ptr<const ChangeEvent>> events;
};

/// Leases the next changes of a leased consumer that pass its filter. Changes that do not pass are
/// acknowledged. A batch has about `max_bytes` of records, or one record that is larger. Nothing:
/// there are no changes now, or they are leased. Throws store::SqlError.
std::optional<LeasedBatch> lease_changes(store::Session& session, const feed::LeaseRequest& request,
                                         const ChangeFilter& filter,
                                         std::size_t max_bytes = std::size_t{1024} * 1024);

/// The changes as a JSON array of events, as in `/changes`.
std::string changes_json(const LeasedBatch& batch);

}  // namespace skua::change_feed
