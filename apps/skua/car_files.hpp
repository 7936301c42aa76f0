#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backfill/queue/job_table.hpp"

namespace skua::cli {

/// Jobs for CAR files, and what is wrong with the rest.
struct CarJobs {
  std::vector<backfill::NewJob> jobs;
  /// For people, each with its file.
  std::vector<std::string> problems;
  /// Likewise: files left out because another holds a newer revision of the same repository.
  std::vector<std::string> superseded;
};

/// Looks whose repository each file is, and of which revision: reads as far as its commit. An
/// account has one job, whose file is the newest that was given.
CarJobs jobs_of_cars(const std::vector<std::filesystem::path>& files);

/// The files below a directory whose name ends in `.car`, in order. Throws UsageError when it
/// cannot be read.
std::vector<std::filesystem::path> cars_below(const std::filesystem::path& directory);

}  // namespace skua::cli
