#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "atproto/tid.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/time.hpp"
#include "store/filter_table.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// A leased job, and what was stored about its account when it began.
struct LeasedJob {
  Job job;
  /// When a slot of its host was taken for it (HostLimits::started).
  Timestamp started_at;
  /// Whether the network or the operator named its host.
  transport::HostOrigin host_origin = transport::HostOrigin::network;
  /// The revision of the stored head. An older CAR may contain records that were deleted since.
  std::optional<atproto::Tid> known;
  /// The whole repository is needed, not only the changes since a revision.
  bool wants_whole = false;
  /// Which of its records are stored, and the version of the filter at that time
  /// (FilterState::settled).
  std::shared_ptr<const store::Filter> filter;
  std::int64_t filter_version = 0;
};

}  // namespace skua::backfill
