#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"
#include "verification.hpp"

namespace skua::cli {

/// `skua repo resync`; nothing for a flag that was not given.
struct RepoResyncFlags {
  std::vector<std::string> who;
  std::vector<std::string> files;
  std::vector<std::string> cars;
  std::optional<std::string> attempts;
  std::optional<std::string> did_docs;
  VerificationFlags verification;
  std::optional<std::string> database;
  bool allow_unsafe_database = false;
  std::optional<std::string> decode_threads;
  std::optional<std::string> stats_interval;
};
int repo_resync(const Settings& settings, const RepoResyncFlags& flags);

/// `skua repo info`.
struct RepoInfoFlags {
  std::vector<std::string> who;
  VerificationFlags verification;
  std::optional<std::string> database;
  bool json = false;
};
int repo_info(const Settings& settings, const RepoInfoFlags& flags);

}  // namespace skua::cli
