#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

// An SQL error that concerns one consumer is stored in `skua.consumers.error` and logged. Its work
// is tried again after a minute, and that of other consumers continues. The functions throw
// postgres::SqlError for failures of the server, and if `stop` was requested and the statement was
// canceled.

/// Builds the tables of one consumer that waits for it, from the records, and puts its lanes at the
/// end of the log that belongs to the same snapshot. The build is one transaction: after a crash
/// nothing of it exists. False: no consumer waits, or other processes build. It may take hours.
bool build_projection(postgres::Session& session, ConsumerMetrics& metrics,
                      const std::stop_token& stop = {});

/// Puts a finished build in the place of the live tables once it has nearly reached the end of the
/// log. One transaction applies the rest of the changes and exchanges the views: readers see the
/// old tables or the new ones, and counts never go back. If the live tables cannot be read, the
/// projections that depend on them are rebuilt. False: nothing to exchange, or a reader holds the
/// views for too long.
bool exchange_projection(postgres::Session& session, const std::stop_token& stop = {});

/// Drops the tables of a retired consumer. False: there is none, or a reader uses them.
bool drop_retired_projection(postgres::Session& session, const std::stop_token& stop = {});

/// One step of the upkeep of the tables of projections: a build, an exchange or a drop. False:
/// there is nothing to do, or the role of the session is not the owner of the tables. Projections
/// that wait for a build then say so in `skua.consumers`, and the log does.
bool maintain_projections(postgres::Session& session, ConsumerMetrics& metrics,
                          const std::stop_token& stop = {});

/// As `check_projection`, for the regular check of a live consumer.
void check_consumer(postgres::Session& session, const Consumer& consumer, std::int32_t keys,
                    ConsumerMetrics& metrics, const std::stop_token& stop = {});

/// Requests a rebuild of projections that another version of skua built.
void rebuild_old_versions(postgres::Session& session);

/// Compares `keys` rows of a live projection, chosen at random, with the records; nothing: all
/// rows. It first applies all changes of its snapshot, in a transaction that it rolls back. Returns
/// a text for each difference, at most ten. Nothing: the projection is not built, another session
/// works on it, much work is left that earlier changes caused, or, with `keys`, it is far from the
/// end of the log. Throws postgres::SqlError.
std::optional<std::vector<std::string>> check_projection(postgres::Session& session,
                                                         const std::string& name,
                                                         std::optional<std::int32_t> keys,
                                                         ConsumerMetrics& metrics);

}  // namespace skua::consumers
