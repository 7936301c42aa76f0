#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "postgres/session.hpp"
#include "status/metrics_text.hpp"

namespace skua::status {

/// Reads the state of the change log: `timeline`, and the positions `oldest` and `next` (of the
/// future change). It also has the times of the oldest and the newest block (null if there is
/// none), `bytes` on disk, `max_bytes` and `retention_seconds`. Needs only the rights of
/// skua_reader. Throws postgres::SqlError.
nlohmann::json read_change_log_status(postgres::Session& session);

/// Reads the consumers of the change log as an array of objects, then the retired projections whose
/// tables cannot be dropped. `state`, `code`, `reason` and `cure` are those of
/// consumers::judge_consumer. `tuning` has the values of the profile with the overrides. `lease` of
/// a lane is null if the lane is not leased. Throws postgres::SqlError.
nlohmann::json read_consumer_list(postgres::Session& session);

/// Returns a table with a line for each consumer. If a consumer does not work, the reason and the
/// cure are below its line. Empty if there are no consumers.
std::string consumer_list_text(const nlohmann::json& consumers, std::size_t indent = 0);

/// Returns all values of the consumers with this name, including a line for each lane.
std::string consumer_text(const nlohmann::json& consumer);

/// Reads the metrics of each consumer in the database, with the label `consumer`. During a rebuild
/// two consumers have the same name; only the live one has metrics. A consumer whose first build is
/// not complete has metrics, too. Throws postgres::SqlError.
std::vector<LabelledMetric> read_consumer_metrics(postgres::Session& session);

/// Returns the declarations of the metrics of consumers.
std::vector<pipeline::MetricDeclaration> consumer_metric_declarations();

}  // namespace skua::status
