#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "world/account.hpp"
#include "world/random.hpp"
#include "world/record_maker.hpp"
#include "world/subjects.hpp"

namespace skua::sim {

/// Creates records with new keys, remembers the keys with the account, and registers records as
/// subjects for others. One thread.
class RecordWriter {
 public:
  RecordWriter(Random& random, Subjects& subjects)
      : random_(random), subjects_(subjects), maker_(random, subjects) {}

  /// Returns a collection of the network's mix in which the account can create another record.
  Collection collection_for_new(const Account& account);

  /// Returns a key for a new record; nothing if the collection has no room (its `self` exists, or
  /// all posts have gates).
  std::optional<std::string> new_key(Account& account, Collection collection, Timestamp now);

  /// Creates a record; nothing if no key is available.
  std::optional<Write> create(Account& account, Collection collection, Timestamp now);
  /// Creates a record with an unused key.
  Write create_at(Account& account, Collection collection, const std::string& rkey, Timestamp now);
  /// Stores a record of the caller with an unused key.
  Write put_new(Account& account, Collection collection, const std::string& rkey,
                const nlohmann::json& record);
  /// Replaces the content of a used key.
  Write replace(const Account& account, Collection collection, const std::string& rkey,
                Timestamp now);
  /// Removes a key from the account by its index.
  Write remove(Account& account, Collection collection, std::size_t index);

  nlohmann::json make(Collection collection, const Account& account, const std::string& rkey,
                      Timestamp now) {
    return maker_.make(collection, account, rkey, now);
  }

 private:
  void tell_others(const Account& account, Collection collection, const std::string& rkey,
                   const nlohmann::json& record, const Bytes& block);

  Random& random_;
  Subjects& subjects_;
  RecordMaker maker_;
};

std::string path_of(Collection collection, const std::string& rkey);

/// Returns the DAG-CBOR of a record. Throws std::logic_error if the record has none, because this
/// program created the record.
Bytes block_of(const nlohmann::json& record);

}  // namespace skua::sim
