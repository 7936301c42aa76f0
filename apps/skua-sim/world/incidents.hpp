#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "world/account.hpp"
#include "world/activity.hpp"
#include "world/announcements.hpp"
#include "world/population.hpp"
#include "world/random.hpp"
#include "world/record_writer.hpp"
#include "world/subjects.hpp"

namespace skua::sim {

/// The parts of the network that incidents act on.
struct World {
  Random& random;
  Subjects& subjects;
  RecordWriter& records;
  Population& population;
  Announcements& announcements;
  Activity& activity;
};

/// Events that are rare on the real network: events of accounts and identities, commits that change
/// a key twice, records that violate their lexicon. Each function does one thing to one active
/// account, and returns the number of ops and events. This is 0 if nothing could be done, or if the
/// message is neither an op nor an event. One thread.
class Incidents {
 public:
  /// If `one_op_a_path` is set, incidents that change a key twice in one commit are excluded.
  Incidents(const World& world, double oddities, bool one_op_a_path)
      : world_(world), oddities_(oddities), one_op_a_path_(one_op_a_path) {}

  /// Carries out a due sequel or a random incident. Returns nothing if the caller must make an
  /// ordinary step.
  std::optional<std::size_t> happen(Timestamp now);

  /// Adds a new account.
  std::size_t join(Timestamp now);

  /// Causes an incident now, for one of the active accounts: `move`, `leave_for_good`, by the names
  /// in kKinds. Returns nothing if the kind is unknown.
  std::optional<std::size_t> cause(std::string_view name, Timestamp now);

 private:
  struct Kind {
    std::string_view name;
    double per_thousand;
    std::size_t (Incidents::*happen)(Account&, Timestamp);
    bool repeats_path = false;
  };
  static const std::array<Kind, 22> kKinds;

  /// A later consequence of an incident.
  struct Sequel {
    std::size_t account;
    /// The previous host, which must still announce that the account left. If it is nothing, the
    /// account becomes active.
    std::optional<std::size_t> left_host;
  };
  std::optional<std::size_t> happen_if_due(Timestamp now);
  void later(std::size_t least, std::size_t most, Sequel sequel);

  /// Returns an existing key of the account, in a collection whose records change often.
  std::optional<std::pair<Collection, std::string>> some_key(const Account& account);
  std::size_t put(Account& account, Collection collection, const std::string& rkey,
                  const nlohmann::json& record, Timestamp now);

  // The following incidents change commits.
  std::size_t many_ops(Account& account, Timestamp now);
  std::size_t delete_and_create(Account& account, Timestamp now);
  std::size_t create_and_delete(Account& account, Timestamp now);
  std::size_t update_twice(Account& account, Timestamp now);
  std::size_t delete_then_create(Account& account, Timestamp now);
  std::size_t no_ops(Account& account, Timestamp now);
  std::size_t stand_still(Account& account, Timestamp now);  // #sync

  // The following incidents change records.
  std::size_t broken_record(Account& account, Timestamp now);
  std::size_t nul_in_text(Account& account, Timestamp now);
  std::size_t year_one(Account& account, Timestamp now);
  std::size_t odd_key(Account& account, Timestamp now);

  // The following incidents change accounts and identities.
  std::size_t repeat_identity(Account& account, Timestamp now);
  std::size_t repeat_account(Account& account, Timestamp now);
  std::size_t change_handle(Account& account, Timestamp now);
  std::size_t take_handle(Account& account, Timestamp now);
  std::size_t rotate_key(Account& account, Timestamp now);
  std::size_t move(Account& account, Timestamp now);
  std::size_t deactivate(Account& account, Timestamp now);
  std::size_t suspend(Account& account, Timestamp now);
  std::size_t take_down(Account& account, Timestamp now);
  std::size_t leave_for_good(Account& account, Timestamp now);
  std::size_t someone_joins(Account& account, Timestamp now);
  std::size_t make_inactive(Account& account, AccountStatus status, Timestamp now);

  World world_;
  double oddities_;
  bool one_op_a_path_;
  std::uint64_t steps_ = 0;
  std::multimap<std::uint64_t, Sequel> sequels_;
};

}  // namespace skua::sim
