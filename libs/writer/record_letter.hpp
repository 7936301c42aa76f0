#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "resolve/resolver.hpp"
#include "store/dead_letter_table.hpp"
#include "store/session.hpp"
#include "writer/added_lexicons.hpp"

namespace skua::writer {

/// Whether a letter of the indexer can be written as a record: its path, revision and operation are
/// known, and unless it is a delete, `payload` is the whole record.
bool has_record(const store::LetterRow& letter, const Bytes& payload);

/// The outcome of a replay.
struct ReplayedRecord {
  /// Empty: the record was written, or newer content is stored. Otherwise the reason why it cannot
  /// be stored.
  std::string error;
  /// The SQLSTATE of `error`; empty: PostgreSQL did not report it.
  std::string sqlstate;
  /// Rows whose content was inserted, changed or deleted. 0: the stored row is not older.
  std::size_t rows = 0;
};

/// Decodes the record of a letter (`has_record`) and writes it with the LiveWriter, as the event of
/// its commit. It waits for the locks of the account. It uses the revision of the letter, so an
/// older record never overwrites a newer one. Idempotent. Call it outside of a transaction. Throws
/// store::SqlError except DataError.
ReplayedRecord replay_record(store::Session& session, resolve::SharedIds& ids, const Clock& clock,
                             AddedLexicons& lexicons, const store::LetterRow& letter,
                             const Bytes& payload);

}  // namespace skua::writer
