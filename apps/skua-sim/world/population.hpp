#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "account.hpp"
#include "base/time.hpp"
#include "network.hpp"
#include "plc_directory.hpp"
#include "random.hpp"

namespace skua::sim {

/// The part of all records that falls to the accounts before `number` of `count`, 0 to 1. With a
/// spread of 1, which all traffic has, the first of 2,000 accounts makes 1.8 %, the last 0.01 %;
/// with 2 it is 10 % and 0.0003 %.
double share_before(std::size_t number, std::size_t count, double spread);

/// The accounts, whom names lead to, and the PLC directory. Changes here are silent: what hosts say
/// of them is Announcements' part. References to accounts stay valid. One thread.
class Population {
 public:
  Population(const NetworkSettings& settings, std::vector<std::string> host_urls);

  /// A new account with a handle, keys and a genesis operation; its repository is not founded yet.
  Account& add(Timestamp now);

  std::size_t size() const { return accounts_.size(); }
  Account& at(std::size_t number) { return accounts_[number]; }
  Account* find(std::string_view did);
  /// In byte order.
  const std::vector<std::string>& dids() const { return dids_; }
  std::size_t hosts() const { return host_urls_.size(); }
  const PlcDirectory& directory() const { return directory_; }

  /// An account that may commit, any as likely as the other; null: there is none.
  Account* random_active(Random& random);
  /// The same, in the proportions of `share_before`: few accounts make most of the traffic. Unless
  /// all are to act alike.
  Account* random_busy(Random& random);
  std::size_t active() const { return active_; }
  void set_status(Account& account, AccountStatus status);

  /// A handle of a host's domain that nobody has.
  std::string fresh_handle(std::size_t host);
  std::optional<std::string> did_of(std::string_view handle) const;
  bool handle_valid(const Account& account) const;

  // Each is one operation in the directory.

  /// The name leads to the account from now on, whoever had it before; its old name to nobody.
  void change_handle(Account& account, const std::string& handle, Timestamp now);
  void rotate_key(Account& account, Timestamp now);
  /// A new key for its labels; with the first one the account becomes a labeler.
  void renew_label_key(Account& account, Timestamp now);
  /// To another host, which brings a signing key of its own.
  void move(Account& account, std::size_t host, Timestamp now);
  /// Nobody answers for the name of a deleted account.
  void release_handle(const Account& account);

 private:
  atproto::SigningKey signing_key(std::size_t number, std::uint64_t generation) const;
  void renew_signing_key(Account& account) const;
  void record_operation(Account& account, Timestamp now);

  const NetworkSettings settings_;
  const std::vector<std::string> host_urls_;
  Random random_;
  std::deque<Account> accounts_;
  std::size_t active_ = 0;
  std::unordered_map<std::string, std::size_t> by_did_;
  std::unordered_map<std::string, std::size_t> names_;
  std::vector<std::string> dids_;
  PlcDirectory directory_;
};

}  // namespace skua::sim
