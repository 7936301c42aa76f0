#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace skua::cli {

/// `skua dead-letters ...`.
struct DeadLettersFlags {
  std::vector<std::string> ids;
  std::optional<std::string> consumer;
  std::optional<std::string> did;
  std::optional<std::string> error;
  std::vector<std::string> statuses;
  std::optional<std::string> older_than;
  std::optional<std::string> limit;
  std::optional<std::string> note;
  bool all = false;
  bool force = false;
  bool json = false;
  std::optional<std::string> database;
  bool allow_unsafe_database = false;
};

// All return the exit code.

int dead_letters_list(const Settings& settings, const DeadLettersFlags& flags);
int dead_letters_show(const Settings& settings, const DeadLettersFlags& flags);
int dead_letters_replay(const Settings& settings, const DeadLettersFlags& flags);
int dead_letters_resolve(const Settings& settings, const DeadLettersFlags& flags);
int dead_letters_discard(const Settings& settings, const DeadLettersFlags& flags);
int dead_letters_purge(const Settings& settings, const DeadLettersFlags& flags);

}  // namespace skua::cli
