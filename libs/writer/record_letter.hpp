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
  /// Of `error`; empty if PostgreSQL did not report it.
  std::string sqlstate;
  /// Rows whose content was inserted, changed or deleted. 0: what is stored is not older.
  std::size_t rows = 0;
};

/// Decodes the record of a letter (`has_record`) and writes it as the event of its commit with the
/// LiveWriter: under the locks of the account, which it waits for, and with the revision of the
/// letter, so that an older record never overwrites a newer one. Idempotent. Outside a transaction.
/// Throws store::SqlError except DataError.
ReplayedRecord replay_record(store::Session& session, resolve::SharedIds& ids, const Clock& clock,
                             AddedLexicons& lexicons, const store::LetterRow& letter,
                             const Bytes& payload);

}  // namespace skua::writer
