#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backfill/discovery/host_table.hpp"
#include "backfill/discovery/list_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::test {

inline const std::string kListOwner = "skua backfill pid 1 at here";

/// A database with lists of hosts, and one lease owner.
class ListsOfHosts : public PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::size_t add(const std::vector<backfill::HostList>& lists,
                  backfill::Again again = backfill::Again::Yes) {
    return backfill::add_lists(session(), lists, again, clock_.now());
  }
  backfill::JobLeaseRequest as(const std::string& lease_owner) {
    return {lease_owner, clock_.now(), std::chrono::minutes(2)};
  }
  std::vector<backfill::LeasedList> lease_next(std::size_t limit = 10) {
    return backfill::lease_lists(session(), limit, as(kListOwner));
  }
  std::vector<std::string> leased(std::size_t limit = 10) {
    std::vector<std::string> hosts;
    for (const backfill::LeasedList& each : lease_next(limit)) hosts.push_back(each.list.host);
    std::sort(hosts.begin(), hosts.end());
    return hosts;
  }
  bool save(const backfill::HostList& list, std::optional<std::string> cursor,
            std::int64_t entries = 1000) {
    return backfill::save_page(session(), list, cursor, entries, as(kListOwner));
  }
  bool fail(const backfill::HostList& list, std::chrono::seconds asked = std::chrono::seconds(0),
            int max_attempts = 15) {
    return backfill::list_failed(session(), list, "no answer", asked, kListOwner, clock_.now(),
                                 max_attempts);
  }
  std::string column(const backfill::HostList& list, const std::string& expression) {
    return value("SELECT " + expression + " FROM skua.backfill_hosts WHERE host = '" + list.host +
                 "' AND what = '" + list.what + "'");
  }

  ManualClock clock_;
};

}  // namespace skua::test
