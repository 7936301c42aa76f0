#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// Input that could not become rows (`skua.dead_letter`).
struct DeadLetter {
  /// The component that rejected it.
  std::string consumer;
  /// Identifies the letter for its consumer. For the indexer: source, position and operation.
  std::string key;
  /// The account that the input concerns; empty: unknown.
  std::string did;
  Bytes payload;
  std::string error;
  /// Empty if PostgreSQL did not reject it.
  std::string sqlstate;
};

/// The limits of the table, so that invalid input does not fill the disk.
struct DeadLetterLimits {
  /// The size of one payload. The rest is cut off, and the error mentions this.
  std::size_t payload_bytes = std::size_t{1} << 20;
  /// Letters of one account; letters without an account count as one account.
  std::int64_t per_account = 1'000;
  /// The size of the table with its indexes and payloads.
  std::int64_t table_bytes = std::int64_t{1} << 30;
};

/// Writes letters. If a letter exists with another outcome, its attempts increase; with the same
/// outcome, as after a replay, it does not change. Texts may contain anything: control characters
/// and invalid UTF-8 are escaped. In the caller's transaction, if there is one. New letters beyond
/// the limits are counted and logged instead. Returns the number of changed rows.
std::size_t write_dead_letters(Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now, const DeadLetterLimits& limits = {});

/// Counters of this process. Any thread.
struct DeadLetterCounters {
  Counter left_out{"dead_letters_left_out", "skua_dead_letters_left_out_total", "dead letters",
                   "Dead letters that are not stored because skua.dead_letter is full"};
};
const DeadLetterCounters& dead_letter_counters();

}  // namespace skua::store
