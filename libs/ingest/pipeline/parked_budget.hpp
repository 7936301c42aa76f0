#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/seeded_hash.hpp"
#include "pipeline/in_flight.hpp"

namespace skua::pipeline {

/// Limits the frames that a decoder parks for accounts whose own host was asked, for a did:web
/// document or a hosting status. Such a host may be silent on purpose, and must delay its own
/// accounts only. Frames that wait for the PLC directory or the database are not counted: these
/// waits concern all accounts, and the in-flight list bounds them.
///
/// No I/O. One thread, its decoder's.
class ParkedBudget {
 public:
  using Ticket = InFlightList::Ticket;

  struct Limits {
    /// For one account. A message that follows the specification is smaller.
    std::size_t account_bytes = std::size_t{2} << 20;
    /// For all counted accounts together.
    std::size_t all_bytes = std::size_t{8} << 20;
    /// How many frames may follow a parked frame: the cursor does not pass it.
    std::size_t frames = 50'000;

    /// The share of one of so many decoders: together a quarter of the in-flight bytes, but each at
    /// least the limit of one account. A parked frame is at most half of the in-flight list old.
    static Limits of(const InFlightList::Limits& in_flight, std::size_t decoders);
  };

  explicit ParkedBudget(Limits limits) : limits_(limits) {}

  /// Sets the parked bytes of an account, and its oldest frame.
  void set(const std::string& did, std::size_t bytes, Ticket oldest);
  /// The account has no parked frames, or does not wait for its host. Idempotent.
  void erase(const std::string& did);

  /// The account that must stop waiting: its oldest frame is too old, or it has too many bytes, or
  /// it has the most bytes while all together have too many. Nothing: all are within the limits.
  /// `next`: the ticket of the next frame.
  std::optional<std::string> beyond(Ticket next) const;

  bool empty() const { return accounts_.empty(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Account {
    std::size_t bytes = 0;
    Ticket oldest = 0;
  };

  const Limits limits_;
  std::unordered_map<std::string, Account, SeededHash> accounts_;
  std::set<std::pair<std::size_t, std::string>> by_bytes_;
  std::set<std::pair<Ticket, std::string>> by_age_;
  std::size_t bytes_ = 0;
};

}  // namespace skua::pipeline
