#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// Input that could not become rows (`skua.dead_letter`).
struct DeadLetter {
  /// Who rejected it.
  std::string consumer;
  /// The name of the letter, unique with the consumer. For the indexer: source, position and
  /// operation.
  std::string key;
  /// The account that it is about; empty: not known.
  std::string did;
  Bytes payload;
  std::string error;
  /// Empty when it was not PostgreSQL that refused it.
  std::string sqlstate;
};

/// The limits of the table, so that invalid input does not fill the disk.
struct DeadLetterLimits {
  /// Of one payload; the rest is cut off, and the error says so.
  std::size_t payload_bytes = std::size_t{1} << 20;
  /// Letters of one account; those without an account count as one.
  std::int64_t per_account = 1'000;
  /// Of the table with its indexes and payloads.
  std::int64_t table_bytes = std::int64_t{1} << 30;
};

/// Writes letters. One that is there already with another outcome counts an attempt; with the same
/// one, as after a replay, it stays as it is. Texts may be anything: control characters and bytes
/// that are not UTF-8 are escaped. In the caller's transaction, if there is one. New letters beyond
/// the limits are counted and logged instead. Returns the number of rows changed.
std::size_t write_dead_letters(Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now, const DeadLetterLimits& limits = {});

/// Letters of this process that were beyond the limits, committed or not. Any thread.
std::uint64_t dead_letters_left_out();

}  // namespace skua::store
