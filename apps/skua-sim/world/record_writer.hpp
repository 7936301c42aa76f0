#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "account.hpp"
#include "account_repository.hpp"
#include "base/time.hpp"
#include "collections.hpp"
#include "random.hpp"
#include "record_maker.hpp"
#include "subjects.hpp"

namespace skua::sim {

/// Makes records under keys of their own, remembers the keys with the account, and lets others know
/// of what can be referred to. One thread.
class RecordWriter {
 public:
  RecordWriter(Random& random, Subjects& subjects)
      : random_(random), subjects_(subjects), maker_(random, subjects) {}

  /// A collection in the network's mix in which the account can have one more record.
  Collection collection_for_new(const Account& account);

  /// A key for a new record; nothing: the collection has room for none (it has its `self`, or there
  /// is no post left to gate).
  std::optional<std::string> new_key(Account& account, Collection collection, Timestamp now);

  /// A new record; nothing: there is no key for it.
  std::optional<Write> create(Account& account, Collection collection, Timestamp now);
  /// A new record under a key that is not taken.
  Write create_at(Account& account, Collection collection, const std::string& rkey, Timestamp now);
  /// The same of a record that the caller has made.
  Write put_new(Account& account, Collection collection, const std::string& rkey,
                const nlohmann::json& record);
  /// Another content for a key that is taken.
  Write replace(const Account& account, Collection collection, const std::string& rkey,
                Timestamp now);
  /// Takes a key from the account by its index.
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

/// Throws std::logic_error when the record has no DAG-CBOR form: it was made here.
Bytes block_of(const nlohmann::json& record);

}  // namespace skua::sim
