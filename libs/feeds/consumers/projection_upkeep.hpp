#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/workload.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

// An SQL error that concerns one consumer is stored in `skua.consumers.error` and logged. The
// upkeep of this consumer is repeated after a minute, and the upkeep of other consumers continues.
// The functions throw postgres::SqlError for failures of the server, and if `stop` was requested
// and the statement was canceled. A quick workload (Workload) leaves a projection whose statements
// take too long to the thread for slow ones.

/// Builds the tables of one consumer that waits for a build, from the records, and puts its lanes
/// at the end of the log in the same snapshot. The build is one transaction, so a crash leaves
/// nothing of it. Returns false if no consumer waits, or other processes build. A build may take
/// hours.
bool build_projection(postgres::Session& session, ConsumerMetrics& metrics,
                      const std::stop_token& stop = {}, const Workload& workload = {});

/// Replaces the live tables by those of a finished build that has nearly reached the end of the
/// log. One transaction applies the remaining changes and exchanges the views: readers see the old
/// tables or the new ones, and counts never go back. Dead letters of changes that precede the build
/// are resolved. If the live tables cannot be read, the
/// projections that depend on them are rebuilt. Returns false if there is nothing to exchange, or a
/// reader holds the views for too long.
bool exchange_projection(postgres::Session& session, const std::stop_token& stop = {},
                         const Workload& workload = {});

/// Drops the tables of a retired consumer. Returns false if there is none, or a reader uses the
/// tables.
bool drop_retired_projection(postgres::Session& session, const std::stop_token& stop = {},
                             const Workload& workload = {});

/// Does one step of the upkeep of the tables of projections: a build, an exchange or a drop.
/// Returns false if there is nothing to do, or the role of the session is not the owner of the
/// tables. In the latter case `skua.consumers` and the log say why projections wait for a build.
bool maintain_projections(postgres::Session& session, ConsumerMetrics& metrics,
                          const std::stop_token& stop = {}, const Workload& workload = {});

/// Does the regular check of a live consumer, with `check_projection`.
void check_consumer(postgres::Session& session, const Consumer& consumer, std::int32_t keys,
                    ConsumerMetrics& metrics, const std::stop_token& stop = {},
                    const Workload& workload = {});

/// Requests a rebuild of projections that another version of skua built.
void rebuild_old_versions(postgres::Session& session);

/// Compares `keys` rows of a live projection, chosen at random, with the records, or all rows if
/// `keys` is nothing. First applies all changes of its snapshot, in a transaction that is rolled
/// back. Returns a text for each difference, at most ten. Returns nothing if the projection is not
/// built, another session works on it, much work of earlier changes is left, or, with `keys`, the
/// projection is far from the end of the log. Throws postgres::SqlError, and ConsumerError if
/// groups of accounts have moved since the build.
std::optional<std::vector<std::string>> check_projection(postgres::Session& session,
                                                         const std::string& name,
                                                         std::optional<std::int32_t> keys,
                                                         ConsumerMetrics& metrics);

}  // namespace skua::consumers
