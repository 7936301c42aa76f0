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

/// Returns the dead letter of an event that cannot become rows, for `skua.dead_letter`. `source` is
/// the name of the event's source. The same input gets the same key again. `error` is the reason,
/// for users. `sqlstate` is the code of the server if the server refused the event, otherwise
/// empty.
tables::DeadLetter dead_letter_of(const std::string& source, const event::ResolvedEvent& event,
                                  const std::string& error, const std::string& sqlstate);

/// Stores one event that the server refused in `skua.dead_letter`, in a transaction of its own. If
/// the event was rejected earlier, the letter has the reason of that rejection. Throws
/// postgres::SqlError.
void write_dead_letter(postgres::Session& session, const SourceNames& sources,
                       const event::ResolvedEvent& event, const postgres::SqlError& error,
                       Timestamp now);

/// Replaces a record change that must not become a row by a Rejection with its bytes.
void reject(event::ResolvedEvent& event, const std::string& reason);

/// Whether a letter of the indexer can be written as a record: its path, revision and operation are
/// known, and `payload` is the whole record unless the operation is a delete.
bool has_record(const tables::LetterRow& letter, const Bytes& payload);

/// The outcome of a replay.
struct ReplayedRecord {
  /// Empty if the record was written, or newer content is stored. Otherwise the reason why the
  /// record cannot be stored.
  std::string error;
  /// The SQLSTATE of `error`. It is empty if PostgreSQL did not report the error.
  std::string sqlstate;
  /// The number of rows whose content was inserted, changed or deleted. It is 0 if the stored row
  /// is not older.
  std::size_t rows = 0;
};

/// Decodes the record of a letter (`has_record`) and writes it with the RowWriter, as the event of
/// its commit. It waits for the locks of the account. It uses the revision of the letter, so an
/// older record never overwrites a newer one. Idempotent. Call it outside of a transaction. Throws
/// postgres::SqlError except DataError.
ReplayedRecord replay_record(postgres::Session& session, ids::SharedIds& ids, const Clock& clock,
                             AddedLexicons& lexicons, const tables::LetterRow& letter,
                             const Bytes& payload);

/// Removes all records of an account and its labels from every table. It stores no tombstones and
/// no minimum revision, so the account can be indexed again. Each transaction removes a few
/// thousand rows with the locks of the account, for which it waits. Call it outside of a
/// transaction. Idempotent. Returns the number of rows. Throws postgres::SqlError, like all
/// functions of this file.
std::size_t discard_account(postgres::Session& session, const std::string& did,
                            AccountNumber actor_id);

/// Removes the rows of one table, as `discard_account` does. Labels stay.
std::size_t discard_rows(postgres::Session& session, const TableWriter& table,
                         const std::string& did, AccountNumber actor_id);

/// The numbers of old rows that `discard_expired` found.
struct ExpiredCounts {
  std::size_t in_table = 0;
  std::size_t in_records = 0;
};

/// Removes old rows of a collection from its table `table`, which may be null, and from
/// `bsky.records`. The limit of the question applies to each of the two. It takes the locks of the
/// accounts of the rows, for which it waits. It runs in the caller's transaction. After it, the
/// transaction may only update the caller's own rows. If it finds fewer rows than the limit, there
/// are no more.
ExpiredCounts discard_expired(postgres::Session& session, const TableWriter* table,
                              const std::string& collection, const ExpiredQuestion& question);

}  // namespace skua::writer
