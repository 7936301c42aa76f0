#pragma once

#include <cstddef>

#include "base/time.hpp"
#include "world/account.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"
#include "world/subjects.hpp"

namespace skua::sim {

/// Publishes the hosts' messages about their accounts, and remembers the last message of each kind.
/// One thread.
class Announcements {
 public:
  explicit Announcements(Network::Publish publish) : publish_(std::move(publish)) {}

  void commit(const Account& account, CommitFrame frame);
  void sync(const Account& account, Timestamp now);
  void identity(Account& account, Timestamp now);
  /// Publishes the account's status at its host.
  void account(Account& account, Timestamp now);
  /// Publishes from the previous host that the account is deactivated.
  void left(Account& account, std::size_t host, Timestamp now);
  /// Publishes a hostile message.
  void hostile(const Account& account, Message message);

  /// Returns the newest commits of all accounts, from which hostile messages are made.
  const Recent<CommitFrame>& commits() const { return commits_; }

 private:
  void say(std::size_t host, Message message);

  Network::Publish publish_;
  Recent<CommitFrame> commits_{64};
};

}  // namespace skua::sim
