#pragma once

#include <cstddef>

#include "account.hpp"
#include "base/time.hpp"
#include "frames.hpp"
#include "network.hpp"
#include "subjects.hpp"

namespace skua::sim {

/// What the hosts say of their accounts, made into messages and published; it remembers what was
/// said last. One thread.
class Announcements {
 public:
  explicit Announcements(Network::Publish publish) : publish_(std::move(publish)) {}

  void commit(const Account& account, CommitFrame frame);
  void sync(const Account& account, Timestamp now);
  void identity(Account& account, Timestamp now);
  /// The account's status as its host knows it.
  void account(Account& account, Timestamp now);
  /// The same from another host: the one it has left says that it is deactivated.
  void left(Account& account, std::size_t host, Timestamp now);
  /// Whatever a host should not say.
  void hostile(const Account& account, Message message);

  /// The newest commits of all accounts, for hostile messages to be made from.
  const Recent<CommitFrame>& commits() const { return commits_; }

 private:
  void say(std::size_t host, Message message);

  Network::Publish publish_;
  Recent<CommitFrame> commits_{64};
};

}  // namespace skua::sim
