#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "base/account_number.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "tables/change_log.hpp"
#include "tables/record_key.hpp"

namespace skua::writer {

using tables::RecordKey;

/// Returns the key of the record that an event changes.
inline RecordKey key_of(const event::ResolvedEvent& event) {
  return {event.actor_id, event.collection_id, event.rkey_number};
}

/// A reference of a record that consumers count.
struct CountedReference {
  tables::ReferenceRole role = tables::ReferenceRole::Like;
  /// Whether only the first and the last reference of an account to a target count. Users see one
  /// like, repost, follow or block of an account and target, however many records there are.
  bool counts_once = false;
  tables::ReferenceTarget target;

  friend bool operator==(const CountedReference&, const CountedReference&) = default;
};

/// The counted references of one record.
using CountedReferences = boost::container::static_vector<CountedReference, 4>;

/// The effects of one transaction: the changes of the content of records, accounts, handles and
/// labels. An effect exists if and only if the content under a key changed: the CID of a record, or
/// the table that holds the record. A stub is not content. The statements of the transaction report
/// their changes, and `finish` appends the effects to the change log.
///
/// Each transaction has one object, on the thread of its session. The transaction holds the locks
/// of the accounts whose records it changes. Therefore the answer to whether a like is the first of
/// its account and subject does not change until the commit.
class Effects {
 public:
  /// Reports that the record of the event has content that its key did not have before in this
  /// table.
  void created(const event::ResolvedEvent& event, const CountedReferences& now);
  /// Reports that the record of the event replaced another version in the same table.
  void updated(const event::ResolvedEvent& event, const CountedReferences& before,
               const CountedReferences& now);
  /// Reports that the row of a key lost its content in this table.
  void removed(const RecordKey& key, std::int64_t rev, const CountedReferences& before);

  /// Reports that the event inserted the row of its post. No row was there before, so the CID of
  /// the event is the first CID of the post (ADR 16). The caller keeps the event.
  void first_version(const event::ResolvedEvent& event) { first_versions_.push_back(&event); }
  /// The events that `first_version` reported. The first CIDs count after the commit.
  std::vector<const event::ResolvedEvent*> take_first_versions() {
    return std::exchange(first_versions_, {});
  }

  void account_changed(AccountNumber actor_id, bool is_deleted);
  void handle_changed(AccountNumber actor_id);
  void label_changed(AccountNumber labeler, tables::ChangeOperation operation,
                     const tables::ReferenceTarget& subject, std::string_view val);

  /// Returns the number of effects so far. A record that moves between tables counts twice until
  /// `finish`.
  std::size_t size() const { return block_.changes.size(); }
  bool empty() const { return block_.changes.empty(); }

  /// Appends the effects to the change log, except during a bootstrap. Commit the transaction
  /// directly after it: its statements must be the last ones. Returns the number of changes. Throws
  /// postgres::SqlError.
  std::size_t finish(postgres::Session& session);

 private:
  struct OnceReference;

  void add(const tables::Change& change);
  void add_reference(const CountedReference& reference, std::int16_t delta);
  /// Makes one update of a record that left one table and came to another in this transaction.
  void join_moves();
  void decide_duplicates(postgres::Session& session);
  /// Adds a reference for the author of each follow that counts for its subject.
  void count_following();
  /// Sorts the changes of each account by revision.
  void sort_by_revision();
  void reorder(const std::vector<std::size_t>& order);

  tables::ChangeBlock block_;
  /// The indices of references that count once.
  std::vector<std::size_t> once_;
  std::vector<const event::ResolvedEvent*> first_versions_;
};

}  // namespace skua::writer
