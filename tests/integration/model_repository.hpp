#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "event/unresolved_event.hpp"

namespace skua::test {

/// The random choices of one test, which follow from its seed.
class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  bool percent(int of_hundred) { return below(100) < static_cast<std::size_t>(of_hundred); }

 private:
  std::mt19937 random_;
};

/// The records of a repository, by path.
using ModelRecords = std::map<std::string, nlohmann::json>;

/// A change of one record in a commit; without a record: a delete.
struct ModelOp {
  std::string path;
  std::optional<nlohmann::json> record;
  bool is_update = false;
};

/// One message of a repository: a commit, or (without ops) a change of the account's status.
struct ModelMessage {
  enum class Kind : std::uint8_t { Commit, Deleted, Back };
  Kind kind = Kind::Commit;
  std::int64_t seq = 0;
  /// The revision of the commit, or the newest one before a message about the account.
  atproto::Tid rev;
  std::vector<ModelOp> ops;
};

/// A repository that changes at random, with all its former states. A record has one of a few
/// values, so a key may get an earlier value again.
class ModelRepository {
 public:
  /// `posts`: URIs that its records refer to. `keys`: how many keys a collection has.
  ModelRepository(std::string did, std::size_t keys, std::vector<std::string> posts);

  const std::string& did() const { return did_; }
  const ModelRecords& records() const { return states_.rbegin()->second; }
  /// The records at each of its revisions.
  const std::map<std::uint64_t, ModelRecords>& states() const { return states_; }
  const std::vector<ModelMessage>& messages() const { return messages_; }
  bool is_deleted() const { return is_deleted_; }
  atproto::Tid rev() const { return {states_.rbegin()->first}; }

  /// Creates most of the possible records.
  void begin(Chance& chance, std::int64_t seq);
  /// Makes a few changes, at most one for each path.
  void change(Chance& chance, std::int64_t seq);
  /// Deletes the account and all its records.
  void remove(std::int64_t seq);
  /// The account returns with an empty repository.
  void come_back(std::int64_t seq);

  /// The CAR of a revision that it had, without a signature.
  Bytes car_of(atproto::Tid rev) const;

 private:
  std::string any_path(Chance& chance) const;
  nlohmann::json any_record(Chance& chance, const std::string& path) const;
  void commit(std::vector<ModelOp> ops, std::int64_t seq);

  const std::string did_;
  const std::vector<std::string> posts_;
  std::vector<std::string> paths_;
  std::map<std::uint64_t, ModelRecords> states_;
  std::vector<ModelMessage> messages_;
  bool is_deleted_ = false;
};

/// The events of one record type that a message comes to, as decoding leaves them. `time`: of an
/// account's message.
std::vector<event::UnresolvedEvent> events_of(const ModelRepository& repository,
                                              const ModelMessage& message, records::RecordType type,
                                              Timestamp time);

/// The URIs of records, with their CIDs.
std::map<std::string, std::string> cids_of(const std::string& did, const ModelRecords& records);

}  // namespace skua::test
