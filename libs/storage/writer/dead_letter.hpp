#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/account_number.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "ids/resolver.hpp"
#include "postgres/session.hpp"
#include "tables/dead_letters.hpp"
#include "writer/added_lexicons.hpp"
#include "writer/table_writer.hpp"
#include "writer/worker_services.hpp"

namespace skua::writer {

/// The dead letter of an event that cannot become rows, for `skua.dead_letter`. `source` names
/// where it came from; the same input gets the same key again. `error`: the reason, for people.
/// `sqlstate`: the server's code if the server refused it, otherwise empty.
tables::DeadLetter dead_letter_of(const std::string& source, const event::ResolvedEvent& event,
                                  const std::string& error, const std::string& sqlstate);

/// Puts one event that the server refused into `skua.dead_letter`, in a transaction of its own. If
/// it was rejected before, the letter gives that reason. Throws postgres::SqlError.
void write_dead_letter(postgres::Session& session, const SourceNames& sources,
                       const event::ResolvedEvent& event, const postgres::SqlError& error,
                       Timestamp now);

/// Makes a record change that must not become a row a Rejection with its bytes.
void reject(event::ResolvedEvent& event, const std::string& reason);

/// Whether a letter of the indexer can be written as a record: its path, revision and operation are
/// known, and unless it is a delete, `payload` is the whole record.
bool has_record(const tables::LetterRow& letter, const Bytes& payload);

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

/// Decodes the record of a letter (`has_record`) and writes it with the RowWriter, as the event of
/// its commit. It waits for the locks of the account. It uses the revision of the letter, so an
/// older record never overwrites a newer one. Idempotent. Call it outside of a transaction. Throws
/// postgres::SqlError except DataError.
ReplayedRecord replay_record(postgres::Session& session, ids::SharedIds& ids, const Clock& clock,
                             AddedLexicons& lexicons, const tables::LetterRow& letter,
                             const Bytes& payload);

/// Removes all records of an account and its labels from every table, and leaves no mark: the
/// account can be indexed again. A few thousand rows in a transaction, with the account's locks,
/// for which it waits. Outside a transaction. Idempotent. Returns the number of rows. Throws
/// postgres::SqlError, as all here.
std::size_t discard_account(postgres::Session& session, const std::string& did,
                            AccountNumber actor_id);

/// The same for one table, without the labels.
std::size_t discard_rows(postgres::Session& session, const TableWriter& table,
                         const std::string& did, AccountNumber actor_id);

/// The numbers of old rows that a question found.
struct ExpiredCounts {
  std::size_t in_table = 0;
  std::size_t in_records = 0;
};

/// Removes old rows of a collection: from `table`, its own table, which may be null, and from
/// `bsky.records`; from each at most as many as the question says. It takes the locks of their
/// accounts, for which it waits. In the caller's transaction, as its last statements but for
/// updates of the caller's own rows. Fewer rows than the limit: no more are there.
ExpiredCounts discard_expired(postgres::Session& session, const TableWriter* table,
                              const std::string& collection, const ExpiredQuestion& question);

}  // namespace skua::writer
