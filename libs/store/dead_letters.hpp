#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

// Writes the indexer's letters to `skua.dead_letter`. consumer_letters.hpp writes those of
// consumers of the change log; dead_letter_table.hpp lists and finishes both.

/// Input that could not become rows (`skua.dead_letter`).
struct DeadLetter {
  /// The component that rejected it.
  std::string consumer;
  /// Identifies the letter for its consumer. For the indexer: source, position and item.
  std::string key;
  /// The account that the input concerns; empty: unknown.
  std::string did;
  Bytes payload;
  std::string error;
  /// Empty if PostgreSQL did not reject it.
  std::string sqlstate;
  /// The source of the input, as in `skua.cursors`; empty: unknown.
  std::string source = {};
  /// The path of the record; empty: the letter is not of one record.
  std::string path = {};
  /// create, update, delete, frame or label, as in `skua.dead_letter.operation`; empty: unknown.
  std::string operation = {};
  /// The revision of the commit, which fits an int8; 0: unknown.
  std::int64_t rev = 0;
  /// The hash of the record, if the payload is the record; otherwise nothing.
  std::optional<atproto::Digest> cid = std::nullopt;
};

/// The limits of the table, so that invalid input does not fill the disk.
struct DeadLetterLimits {
  /// The size of one payload. The rest is cut off, and the error mentions this.
  std::size_t payload_bytes = std::size_t{1} << 20;
  /// Letters of one account; letters without an account count as one account.
  std::int64_t per_account = 1'000;
  /// The payloads of one account. A 64th of it when three quarters of the table are used.
  std::int64_t account_bytes = std::int64_t{4} << 20;
  /// The size of the table with its indexes and payloads.
  std::int64_t table_bytes = std::int64_t{1} << 30;
};

/// Writes letters. If a letter exists with another outcome, its attempts increase and it is dead
/// again; with the same outcome, as after a replay, it does not change, so a finished letter stays
/// finished. Texts may contain anything: control characters and invalid UTF-8 are escaped. In the
/// caller's transaction, if there is one. New letters beyond the limits are counted and logged
/// instead. Returns the number of changed rows.
std::size_t write_dead_letters(Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now, const DeadLetterLimits& limits = {});

/// Counters of this process. Any thread.
struct DeadLetterCounters {
  Counter left_out{"dead_letters_left_out", "skua_dead_letters_left_out_total", "dead letters",
                   "Dead letters that are not stored because skua.dead_letter is full"};
};
const DeadLetterCounters& dead_letter_counters();
/// Counts and logs letters beyond the limits. Any thread.
void count_letters_left_out(std::size_t count, const std::string& example);

}  // namespace skua::store
