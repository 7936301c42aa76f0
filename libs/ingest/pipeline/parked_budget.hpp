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
/// document or a hosting status. Such a host may be silent on purpose, and must only delay its own
/// accounts. Frames that wait for the PLC directory or the database are not counted, because these
/// waits concern all accounts, and the in-flight list bounds them.
///
/// The class does no I/O. Its decoder's thread uses it.
class ParkedBudget {
 public:
  using Ticket = InFlightList::Ticket;

  struct Limits {
    /// The maximum for one account. A message that follows the specification is smaller.
    std::size_t account_bytes = std::size_t{2} << 20;
    /// The maximum for all counted accounts together.
    std::size_t all_bytes = std::size_t{8} << 20;
    /// The maximum number of frames that may follow a parked frame. The cursor does not pass a
    /// parked frame.
    std::size_t frames = 50'000;

    /// Returns the limits of one of `decoders` decoders. All together have a quarter of the
    /// in-flight bytes, but each has at least the limit of one account. At most half of the
    /// capacity of the in-flight list may follow a parked frame.
    static Limits of(const InFlightList::Limits& in_flight, std::size_t decoders);
  };

  explicit ParkedBudget(Limits limits) : limits_(limits) {}

  /// Sets the parked bytes of an account, and its oldest frame.
  void set(const std::string& did, std::size_t bytes, Ticket oldest);
  /// Removes an account that has no parked frames, or does not wait for its host. Idempotent.
  void erase(const std::string& did);

  /// Returns the account that must stop waiting, because its oldest frame is too old, or it has too
  /// many bytes, or it has the most bytes while all together have too many. Returns nothing if all
  /// are within the limits. `next` is the ticket of the next frame.
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
