#pragma once

#include <optional>
#include <string>

#include "settings.hpp"
#include "source_choice.hpp"
#include "verification.hpp"

namespace skua::cli {

/// `skua doctor`.
struct DoctorFlags {
  std::optional<std::string> database;
  bool allow_unsafe_database = false;
  SourceFlags source;
  VerificationFlags verification;
  /// Where a running `skua run` has its pages.
  std::optional<std::string> http;
  bool strict = false;
  bool json = false;
};

/// Exit code 1: something is wrong; with --strict also for a warning. Throws UsageError.
int doctor(const Settings& settings, const DoctorFlags& flags);

}  // namespace skua::cli
