#include "doctor/disk.hpp"

#include <sys/statvfs.h>

#include <fmt/format.h>

#include "base/size_text.hpp"
#include "doctor/disk.sql.hpp"

namespace skua::doctor {
namespace {

/// An hour of the whole network, and a checkpoint.
constexpr std::int64_t kTooLittle = 1'000'000'000;
/// Some days of the whole network.
constexpr std::int64_t kLittle = 10'000'000'000;
constexpr double kLittleShare = 0.05;

struct ServerDisk {
  std::int64_t database;
  /// Nothing: the role may not see it.
  std::optional<std::string> data_directory;
  bool is_local;
};

std::optional<DiskState::Space> space_of(const std::string& folder) {
  struct ::statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return std::nullopt;
  const auto block = static_cast<std::int64_t>(found.f_frsize);
  return DiskState::Space{static_cast<std::int64_t>(found.f_bavail) * block,
                          static_cast<std::int64_t>(found.f_blocks) * block};
}

}  // namespace

DiskState read_disk(store::Session& session) {
  const auto server = session.query_one<ServerDisk>(sql::doctor_disk);
  DiskState disk{.database = server.database, .space = {}};
  if (server.data_directory && server.is_local) disk.space = space_of(*server.data_directory);
  return disk;
}

Finding judge_disk(const DiskState& disk) {
  const std::string size =
      fmt::format("the database has {}", size_text(static_cast<double>(disk.database)));
  if (!disk.space) {
    return skipped("disk", size + "; the free space of the server's disk is not known here",
                   "Look at it on the machine of the server, or run `skua doctor` there as a role "
                   "that may read `data_directory` (pg_read_all_settings).");
  }
  const auto& [free, total] = *disk.space;
  const std::string detail =
      fmt::format("{}; {} of {} are free", size, size_text(static_cast<double>(free)),
                  size_text(static_cast<double>(total)));
  if (free < kTooLittle) return error("disk", problem("disk-full"), detail);
  const bool is_low =
      free < kLittle || static_cast<double>(free) < kLittleShare * static_cast<double>(total);
  return is_low ? warning("disk", problem("disk-low"), detail) : ok("disk", detail);
}

}  // namespace skua::doctor
