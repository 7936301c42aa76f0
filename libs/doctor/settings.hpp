#pragma once

#include <optional>
#include <string>

#include "doctor/finding.hpp"

namespace skua::doctor {

/// The origin of the settings that `skua doctor` examines.
struct SettingsFound {
  /// The origin of the pages of a running `skua run`, such as `http://127.0.0.1:2580`; empty: it
  /// was not asked.
  std::string origin = {};
  /// Why the process did not state its settings; empty: it did.
  std::string failure = {};
  /// Whether the process has a session in the database; nothing: the database did not answer.
  std::optional<bool> uses_database = std::nullopt;
  /// The examined settings, as flags: `--relay wss://relay.example --verify full`.
  std::string examined = {};
};

/// `reader`: a session that reads a source into the database now; nothing: none does. Pure.
Finding judge_settings(const SettingsFound& found, const std::optional<std::string>& reader);

}  // namespace skua::doctor
