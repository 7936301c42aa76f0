#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "world/account.hpp"
#include "world/network.hpp"
#include "world/plc_directory.hpp"
#include "world/random.hpp"

namespace skua::sim {

/// Returns the share (0 to 1) of all records that the accounts before `number` of `count` have.
/// With a spread of 1, which all traffic has, the first of 2,000 accounts makes 1.8 % and the last
/// 0.01 %; with 2 the shares are 10 % and 0.0003 %.
double share_before(std::size_t number, std::size_t count, double spread);

/// The accounts, their handles, and the PLC directory. Changes here are not published, because
/// Announcements publishes them. References to accounts stay valid. One thread.
class Population {
 public:
  Population(const NetworkSettings& settings, std::vector<std::string> host_urls);

  /// Adds a new account with a handle, keys and a genesis operation, and an empty repository.
  Account& add(Timestamp now);

  std::size_t size() const { return accounts_.size(); }
  Account& at(std::size_t number) { return accounts_[number]; }
  Account* find(std::string_view did);
  /// Returns all DIDs in byte order.
  const std::vector<std::string>& dids() const { return dids_; }
  std::size_t hosts() const { return host_urls_.size(); }
  const PlcDirectory& directory() const { return directory_; }

  /// Returns an account that may commit, with uniform probability; null if there is none.
  Account* random_active(Random& random);
  /// Returns an account that may commit, with the probabilities of `share_before`, so that few
  /// accounts make most of the traffic. If `even` is set, the probability is uniform.
  Account* random_busy(Random& random);
  std::size_t active() const { return active_; }
  void set_status(Account& account, AccountStatus status);

  /// Returns an unused handle of a host's domain.
  std::string fresh_handle(std::size_t host);
  std::optional<std::string> did_of(std::string_view handle) const;
  bool handle_valid(const Account& account) const;

  // Each of the following changes is one operation in the directory.

  /// Makes the handle resolve to the account from now on, even if it resolved to another account
  /// before. The account's old handle no longer resolves.
  void change_handle(Account& account, const std::string& handle, Timestamp now);
  void rotate_key(Account& account, Timestamp now);
  /// Gives the account a new key for labels. The first such key turns the account into a labeler.
  void renew_label_key(Account& account, Timestamp now);
  /// Moves the account to another host, which assigns a new signing key.
  void move(Account& account, std::size_t host, Timestamp now);
  /// Releases the handle of a deleted account, so that it no longer resolves.
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
