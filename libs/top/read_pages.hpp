#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "top/history.hpp"
#include "top/snapshot.hpp"

namespace skua::top {

// Each writes the parts of a snapshot that its page has. Missing and malformed fields are left
// out. Pure.

/// `/health/ready`: the state and the problems.
void read_health(const nlohmann::json& page, Snapshot& snapshot);

/// `/metrics`. Collections are quiet if a problem of `snapshot` says so: call read_health before.
void read_metrics(const History& history, Snapshot& snapshot);

/// The sizes of the first answer, with which later ones are compared.
struct FirstSize {
  std::chrono::steady_clock::time_point at;
  double bytes = 0;
  std::map<std::string, double> tables;
};

/// Nothing: the page has no size.
std::optional<FirstSize> first_size(const nlohmann::json& page,
                                    std::chrono::steady_clock::time_point at);

/// `/status`, which arrived at `at`.
void read_status(const nlohmann::json& page, const std::optional<FirstSize>& first,
                 std::chrono::steady_clock::time_point at, Snapshot& snapshot);

/// `/latest`: posts and dead letters.
void read_latest(const nlohmann::json& page, Snapshot& snapshot);

}  // namespace skua::top
