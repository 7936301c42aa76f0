#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/metric.hpp"
#include "base/time.hpp"
#include "ids/resolver.hpp"
#include "lexicon_store/added_checks.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "writer/table_writer.hpp"

namespace skua::recheck {

/// Written by one thread, read by any thread.
struct RecheckMetrics {
  Counter checked{"rechecked_rows", "skua_rechecked_rows_total", "rows",
                  "Stored records that were checked again after lexicons had changed"};
  Counter changed{"recheck_changed_rows", "skua_recheck_changed_rows_total", "rows",
                  "Stored records that this check found valid, invalid or invalid for another "
                  "reason than before"};
};

/// What the functions use. Everything outlives the call.
struct RecheckServices {
  postgres::Session& session;
  ids::SharedIds& ids;
  /// PostgreSQL's clock.
  const Clock& clock;
  RecheckMetrics& metrics;
};

/// The lexicons of a pass.
struct Lexicons {
  std::shared_ptr<const lexicon_store::AddedChecks> added;
  /// All processes have applied the added ones for some seconds, so that a row that is written
  /// after the beginning of a pass needs no check.
  bool is_settled = false;
};

/// Reads the added lexicons, or takes those of `known` if they have not changed. Throws
/// postgres::SqlError, as all here.
Lexicons present_lexicons(postgres::Session& session, const Lexicons& known = {});

/// The tables whose rows were not checked against these lexicons, or not completely. None while a
/// bootstrap is open, and not `bsky.records` if the added lexicons cannot be used.
std::vector<const writer::TableWriter*> due_tables(postgres::Session& session,
                                                   const Lexicons& lexicons);

/// What a step of a pass did.
struct RecheckStep {
  /// The pass is at its end, or another process does it at this moment.
  bool is_end = false;
  /// The part of the table, or the JSON, that the step has read: the larger of both; and the size
  /// of the table.
  std::int64_t bytes = 0;
  std::int64_t table_bytes = 0;
};

/// Continues a pass through a table, or begins one (`skua.lexicon_checks`). Rows that are found
/// invalid move to `bsky.records`, and rows there that are found valid to their table, with the
/// locks of their accounts and an update in the change log; both keep their revision and
/// `indexed_at`. A row that the database refuses stays. At most a thousand rows, in one transaction
/// with the progress of the pass. Outside a transaction. Several processes may call it.
RecheckStep recheck_step(const RecheckServices& services, const writer::TableWriter& table,
                         const Lexicons& lexicons);

/// Checks stored rows again after lexicons have changed, on a thread and a connection of its own. A
/// pass through a large table is spread over a day, so that it does not compete with the writers.
class Rechecker {
 public:
  /// `ids` outlives it.
  Rechecker(postgres::Runtime& runtime, ids::SharedIds& ids,
            std::chrono::milliseconds interval = std::chrono::seconds(10));

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  const RecheckMetrics& metrics() const { return metrics_; }

 private:
  void check(postgres::Session& session, const std::stop_token& stop);

  ids::SharedIds& ids_;
  const Clock& clock_;
  const std::chrono::milliseconds interval_;
  Lexicons lexicons_;
  RecheckMetrics metrics_;
  postgres::SessionThread thread_;
};

}  // namespace skua::recheck
