#pragma once

#include <cstddef>
#include <vector>

#include "base/time.hpp"
#include "world/account.hpp"
#include "world/announcements.hpp"
#include "world/random.hpp"
#include "world/record_writer.hpp"

namespace skua::sim {

/// The ordinary activity of accounts: creates, updates and deletes in the network's mix. One
/// thread.
class Activity {
 public:
  Activity(Random& random, RecordWriter& records, Announcements& announcements)
      : random_(random), records_(records), announcements_(announcements) {}

  /// Gives a new account its initial records: `records` unpublished records from before `now`. If
  /// the number is 0, the account is introduced when it first acts.
  void found(Account& account, std::size_t records, Timestamp now);

  /// Makes one commit of an active account, mostly with one op, sometimes with a few. Returns the
  /// number of ops and events.
  std::size_t act(Account& account, Timestamp now);
  /// Makes one commit with `ops` ops of the mix, on different keys.
  std::size_t act_often(Account& account, std::size_t ops, Timestamp now);
  /// Commits and publishes the message. Returns the number of ops.
  std::size_t commit(Account& account, std::vector<Write> writes, Timestamp now);
  /// Publishes the messages for a new account: #identity, #account, an empty first commit.
  std::size_t introduce(Account& account, Timestamp now);

 private:
  void add_op(Account& account, std::vector<Write>& writes, Timestamp now);
  void add_create(Account& account, std::vector<Write>& writes, Timestamp now);
  bool add_update(Account& account, std::vector<Write>& writes, Timestamp now);
  bool add_delete(Account& account, std::vector<Write>& writes);

  Random& random_;
  RecordWriter& records_;
  Announcements& announcements_;
};

}  // namespace skua::sim
