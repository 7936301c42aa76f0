#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feed/consumers/consumer_judgement.hpp"
#include "status/prometheus_text.hpp"
#include "store/session.hpp"

namespace skua::pages {

/// The state of the database and of its consumers.
struct DatabaseState {
  struct Consumer {
    std::string name;
    feed::ConsumerJudgement judgement;
  };

  bool is_read_only = false;
  /// The newest migration of the database.
  int schema_version = 0;
  bool bootstrap_is_open = false;
  /// Unhandled dead letters, counted up to `kMostLetters`.
  std::int64_t dead_letters = 0;
  /// Consumers that do not advance until a person acts.
  std::vector<Consumer> stuck_consumers = {};
  /// The metrics of all consumers.
  std::vector<status::LabelledMetric> consumers = {};

  static constexpr std::int64_t kMostLetters = 1'000;
};

/// Some small queries. Throws store::SqlError.
DatabaseState read_database_state(store::Session& session);

}  // namespace skua::pages
