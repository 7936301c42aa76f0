#pragma once

#include <optional>
#include <string>

namespace skua::top {

// Numbers for people, the same as those of the dashboard. Nothing: `-`. Pure.

/// `1,234.5`.
std::string number_text(std::optional<double> number, int digits = 0);
/// A time: `12 ms`, `3.4 s`, `5 min`, `6.7 h`, `8.9 d`.
std::string seconds_text(std::optional<double> seconds);
/// A size, or its growth: `12 kB`, `-3.4 MB`.
std::string bytes_text(std::optional<double> bytes);

}  // namespace skua::top
