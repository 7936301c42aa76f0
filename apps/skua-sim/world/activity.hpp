#pragma once

#include <cstddef>
#include <vector>

#include "account.hpp"
#include "announcements.hpp"
#include "base/time.hpp"
#include "random.hpp"
#include "record_writer.hpp"

namespace skua::sim {

/// What people do all day: creates, updates and deletes in the network's mix. One thread.
class Activity {
 public:
  Activity(Random& random, RecordWriter& records, Announcements& announcements)
      : random_(random), records_(records), announcements_(announcements) {}

  /// Gives a new account its history: `records` records in the time before `now`, of which nobody
  /// hears. With 0, the account is introduced when it first acts.
  void found(Account& account, std::size_t records, Timestamp now);

  /// One commit of an active account: one op mostly, now and then a few. Returns what happened.
  std::size_t act(Account& account, Timestamp now);
  /// One commit of so many ops, each in the mix, on keys that differ.
  std::size_t act_often(Account& account, std::size_t ops, Timestamp now);
  /// Commits and says so. Returns the number of ops.
  std::size_t commit(Account& account, std::vector<Write> writes, Timestamp now);
  /// What a host says of an account that is new: #identity, #account, an empty first commit.
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
