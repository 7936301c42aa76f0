#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/seeded_hash.hpp"
#include "writer/in_flight.hpp"

namespace skua::ingest {

/// What a decoder may keep parked of accounts whose own host is asked (for a did:web document, for
/// a status): such a host may be silent on purpose, and must cost its own accounts only. Waits for
/// the PLC directory and for the database concern all accounts and are not counted here: the
/// in-flight list bounds them, and the source waits.
///
/// No I/O. One thread, its decoder's.
class ParkedBudget {
 public:
  using Ticket = writer::InFlightList::Ticket;

  struct Limits {
    /// Of one account. A message that is made by the specification is smaller.
    std::size_t account_bytes = std::size_t{2} << 20;
    /// Of all accounts that are counted.
    std::size_t all_bytes = std::size_t{8} << 20;
    /// How many frames may have come after a frame that is parked: the cursor stands before it.
    std::size_t frames = 50'000;

    /// The share of one of so many decoders: together they keep a quarter of the bytes that may be
    /// in flight (but each at least what one account may have), and a frame stands at most half of
    /// the in-flight list behind.
    static Limits of(const writer::InFlightList::Limits& in_flight, std::size_t decoders);
  };

  explicit ParkedBudget(Limits limits) : limits_(limits) {}

  /// What is parked of an account now, and its oldest frame.
  void set(const std::string& did, std::size_t bytes, Ticket oldest);
  /// Nothing of it is parked, or it waits for something else. Idempotent.
  void erase(const std::string& did);

  /// The account that must not wait any longer: one whose oldest frame stands too far behind, or
  /// that has too many bytes, or the one with the most when all have too many. Nothing: none.
  /// `next`: the ticket that the next frame gets.
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

}  // namespace skua::ingest
