#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace skua::cli {

/// `skua consumers ...`.
struct ConsumersFlags {
  std::string name;
  std::optional<std::string> database;
  bool json = false;
  bool is_pull = false;
  std::optional<std::string> webhook;
  std::optional<std::string> from;
  std::vector<std::string> collections;
  std::vector<std::string> dids;
  std::vector<std::string> ops;
  std::vector<std::string> kinds;
  std::optional<int> lanes;
  std::string policy = "pause";
  std::string profile = "default";
  /// KEY=NUMBER.
  std::vector<std::string> overrides;
  bool skip = false;
  std::optional<std::string> position;
  std::string timeout = "30s";
  std::optional<int> rows;
};

// All return the exit code.

int consumers_list(const Settings& settings, const ConsumersFlags& flags);
int consumers_status(const Settings& settings, const ConsumersFlags& flags);
int consumers_add(const Settings& settings, const ConsumersFlags& flags);
int consumers_add_leased(const Settings& settings, const ConsumersFlags& flags);
int consumers_remove(const Settings& settings, const ConsumersFlags& flags);
int consumers_pause(const Settings& settings, const ConsumersFlags& flags, bool paused);
int consumers_rebuild(const Settings& settings, const ConsumersFlags& flags);
int consumers_reset(const Settings& settings, const ConsumersFlags& flags);
int consumers_move(const Settings& settings, const ConsumersFlags& flags);
int consumers_wait(const Settings& settings, const ConsumersFlags& flags);
int consumers_run(const Settings& settings, const ConsumersFlags& flags, bool until_idle);
int consumers_verify(const Settings& settings, const ConsumersFlags& flags);

}  // namespace skua::cli
