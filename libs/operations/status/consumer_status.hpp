#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "postgres/session.hpp"
#include "status/metrics_text.hpp"

namespace skua::status {

/// The change log: `timeline`, the positions `oldest` and `next` (of the change that comes next),
/// the times of the oldest and the newest block (null: there is none), `bytes` on disk, `max_bytes`
/// and `retention_seconds`. A reader of the database may call it. Throws postgres::SqlError.
nlohmann::json read_change_log_status(postgres::Session& session);

/// The consumers of the change log: an array of objects. `state`, `code`, `reason` and `cure` are
/// those of consumers::judge_consumer. Throws postgres::SqlError.
nlohmann::json read_consumer_list(postgres::Session& session);

/// A table with a line for each consumer, and below it why it does not work and what to do. Empty:
/// there are none.
std::string consumer_list_text(const nlohmann::json& consumers, std::size_t indent = 0);

/// All values of the consumers with this name, a line for each lane included.
std::string consumer_text(const nlohmann::json& consumer);

/// The metrics of each consumer in the database, with the label `consumer`. Of a rebuild and the
/// live consumer of the same name, the live one has metrics. Throws postgres::SqlError.
std::vector<LabelledMetric> read_consumer_metrics(postgres::Session& session);

/// Their declarations.
std::vector<pipeline::MetricDeclaration> consumer_metric_declarations();

}  // namespace skua::status
