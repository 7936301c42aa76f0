#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/seeded_hash.hpp"

namespace skua::backfill {

/// How much of the disk repositories may take, from their first byte until they have been read: in
/// all, and of it a half at most those of one site (site_of_origin). Small repositories, which are
/// held in memory, need none of it: whoever uses it up does not stop them. Any thread.
class SpoolBudget {
 public:
  explicit SpoolBudget(std::uint64_t in_all) : in_all_(in_all) {}

  /// False: there is no room for them, and nothing was taken.
  bool take(const std::string& site, std::uint64_t bytes);
  /// What was taken.
  void give_back(const std::string& site, std::uint64_t bytes);

  std::uint64_t taken() const;

 private:
  const std::uint64_t in_all_;
  mutable std::mutex mutex_;
  std::uint64_t taken_ = 0;
  boost::unordered_flat_map<std::string, std::uint64_t, SeededHash> by_site_;
};

}  // namespace skua::backfill
