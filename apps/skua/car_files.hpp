#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backfill/queue/job_table.hpp"

namespace skua::cli {

/// Jobs for CAR files, and the problems of unusable files.
struct CarJobs {
  std::vector<backfill::NewJob> jobs;
  /// For people, each with its file.
  std::vector<std::string> problems;
  /// Also for people: files that were skipped because another one has a newer revision of the same
  /// repository.
  std::vector<std::string> superseded;
};

/// Reads each file up to its commit to find the account and the revision. An account gets one job,
/// for the newest of its files.
CarJobs jobs_of_cars(const std::vector<std::filesystem::path>& files);

/// The files below a directory whose names end in `.car`, in order. Throws UsageError if it cannot
/// be read.
std::vector<std::filesystem::path> cars_below(const std::filesystem::path& directory);

}  // namespace skua::cli
