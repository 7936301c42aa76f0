#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/account_number.hpp"

namespace skua::atproto {

/// Returns the group of an account: the first six bits of the SHA-256 of its DID. The SQL function
/// bsky.account_group has the same result.
AccountGroup account_group(std::string_view did);

/// A set of groups of accounts. Without arguments it has all groups.
class GroupSet {
 public:
  constexpr GroupSet() = default;

  /// Reads groups and ranges of groups with commas between them, such as `0-31,40`. An empty text
  /// is the empty set. Returns nothing if the text has another form, or a group that does not
  /// exist.
  static std::optional<GroupSet> parse(std::string_view text);

  constexpr bool has(AccountGroup group) const {
    return group < kAccountGroups && (bits_ >> group & 1) != 0;
  }
  constexpr bool has_all() const { return bits_ == kAll; }
  constexpr bool has_none() const { return bits_ == 0; }
  constexpr bool has_all_of(const GroupSet& other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool has_any_of(const GroupSet& other) const { return (other.bits_ & bits_) != 0; }
  /// Returns the groups that both sets have.
  constexpr GroupSet common(const GroupSet& other) const { return GroupSet(bits_ & other.bits_); }
  /// Whether the set has the group of an account. It computes no hash if the set has all groups.
  bool has_account(std::string_view did) const { return has_all() || has(account_group(did)); }
  /// Returns the groups in the shortest form that `parse` reads, or "none".
  std::string text() const;
  /// Returns all groups with commas between them, such as `0,1,2,40`.
  std::string list() const;

  friend bool operator==(const GroupSet&, const GroupSet&) = default;

 private:
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  static_assert(kAccountGroups == 64);

  explicit constexpr GroupSet(std::uint64_t bits) : bits_(bits) {}

  std::uint64_t bits_ = kAll;
};

}  // namespace skua::atproto
