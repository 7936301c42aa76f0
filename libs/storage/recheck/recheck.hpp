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

/// The metrics of a recheck. One thread writes them, and any thread reads them.
struct RecheckMetrics {
  Counter checked{"rechecked_rows", "skua_rechecked_rows_total", "rows",
                  "Stored records that were checked again after lexicons had changed"};
  Counter changed{"recheck_changed_rows", "skua_recheck_changed_rows_total", "rows",
                  "Stored records that this check found valid, invalid or invalid for another "
                  "reason than before"};
};

/// The parts that the functions use. All parts outlive the call.
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
  /// Whether all processes have applied the added lexicons for some seconds, so that a row that is
  /// written after the beginning of a pass needs no check.
  bool is_settled = false;
};

/// Reads the added lexicons, or returns `known` if they have not changed. Throws
/// postgres::SqlError, like all functions of this file.
Lexicons present_lexicons(postgres::Session& session, const Lexicons& known = {});

/// Returns the tables whose rows were not checked against these lexicons, or not completely.
/// Returns none during a bootstrap, and leaves out `bsky.records` if the added lexicons cannot be
/// used.
std::vector<const writer::TableWriter*> due_tables(postgres::Session& session,
                                                   const Lexicons& lexicons);

/// The result of a step of a pass.
struct RecheckStep {
  /// Whether the pass has ended, or another process works on it.
  bool is_end = false;
  /// `bytes` is the size of the part of the table that the step has read, or of its JSON if that is
  /// larger. `table_bytes` is the size of the table.
  std::int64_t bytes = 0;
  std::int64_t table_bytes = 0;
};

/// Continues a pass through a table, or begins one (`skua.lexicon_checks`). Moves rows that are
/// found invalid to `bsky.records`, and rows of `bsky.records` that are found valid to their table,
/// with the locks of their accounts and an update in the change log. Moved rows keep their revision
/// and `indexed_at`. A row that the database refuses stays. One transaction has at most a thousand
/// rows and the progress of the pass. Call it outside of a transaction. Several processes may call
/// it at the same time.
RecheckStep recheck_step(const RecheckServices& services, const writer::TableWriter& table,
                         const Lexicons& lexicons);

/// Checks stored rows again after lexicons have changed. It has a thread and a connection of its
/// own. A pass through a large table is spread over a day, so that it does not compete with the
/// writers.
class Rechecker {
 public:
  /// `ids` outlives the Rechecker.
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
