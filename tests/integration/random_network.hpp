#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "event/unresolved_event.hpp"
#include "integration/model_repository.hpp"

namespace skua::test {

/// An event of an account, which can be delivered more than once.
struct NetworkEvent {
  std::function<event::UnresolvedEvent()> make;
  /// The events of an account and type keep their order. A label is here an event of its account:
  /// nothing distinguishes the labels from before a deletion when the account is active again.
  records::RecordType type = records::RecordType::Actor;
  bool is_label = false;
  /// For people: what it does.
  std::string text;
};

/// The events of a few accounts, each account's in its own order. They come from a seed. The
/// accounts refer to each other's records, which may not exist yet, may change and may be deleted:
/// posts, replies, quotes, mentions, tags, likes and reposts (also through a repost), follows,
/// blocks, lists, gates, profiles, starter packs, labels and generic records. Some records break
/// their lexicon. Accounts change their handles, and become inactive, deleted and active again.
///
/// Keys are few: most events meet others. Records are older than the clock of the tests, so that
/// the time of a record does not depend on when it is indexed.
class RandomNetwork {
 public:
  RandomNetwork(unsigned seed, std::size_t accounts, std::size_t events);

  const std::vector<std::vector<NetworkEvent>>& accounts() const { return events_; }
  /// True if `did` is the account that a look-up of `handle` leads to, after all events.
  bool is_owner(const std::string& handle, const std::string& did) const;

 private:
  struct Account {
    std::string did;
    std::uint64_t rev = 0;
    int second = 0;
    /// The paths of its records, and those that its newest commit changed.
    std::set<std::string> paths;
    std::set<std::string> in_commit;
  };

  void add(std::size_t account);
  void add_record(std::size_t account);
  void add_handle(std::size_t account);
  void add_status(std::size_t account, bool active, const std::string& status);
  void add_label(std::size_t account);
  void add_change(std::size_t account, const std::string& path, const nlohmann::json& record);
  int next_second(std::size_t account);

  std::string any_did() { return accounts_[chance_.below(accounts_.size())].did; }
  std::string any_uri(const std::string& collection);
  nlohmann::json any_reference();
  nlohmann::json any_post();
  nlohmann::json any_gate(std::size_t account, const std::string& collection,
                          const std::string& key);
  nlohmann::json any_record(std::size_t account, const std::string& collection,
                            const std::string& key);

  Chance chance_;
  std::vector<Account> accounts_;
  std::vector<std::vector<NetworkEvent>> events_;
  /// The account that claimed a handle last, by handle.
  std::map<std::string, std::string> owners_;
  std::map<std::string, int> claimed_;
};

}  // namespace skua::test
