#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/seeded_hash.hpp"

namespace skua::backfill {

/// Limits the disk space of downloaded repositories, from their first byte until they have been
/// read: a total limit, and half of it for each site (site_of_origin). Small repositories stay in
/// memory and need no disk space, so they continue when the space is used up. Any thread.
class SpoolBudget {
 public:
  explicit SpoolBudget(std::uint64_t in_all) : in_all_(in_all) {}

  /// False: there is no room, and nothing was reserved.
  bool take(const std::string& site, std::uint64_t bytes);
  /// The reserved bytes.
  void give_back(const std::string& site, std::uint64_t bytes);

  std::uint64_t taken() const;

 private:
  const std::uint64_t in_all_;
  mutable std::mutex mutex_;
  std::uint64_t taken_ = 0;
  boost::unordered_flat_map<std::string, std::uint64_t, SeededHash> by_site_;
};

}  // namespace skua::backfill
