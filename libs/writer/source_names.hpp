#pragma once

#include <string>
#include <utility>
#include <vector>

#include "event/resolved_event.hpp"

namespace skua::writer {

/// The names of a process's sources ("relay:host"), by UnresolvedEvent::origin: what tombstones and
/// dead letters call them.
class SourceNames {
 public:
  explicit SourceNames(std::string only) { names_.push_back(std::move(only)); }
  explicit SourceNames(std::vector<std::string> names) : names_(std::move(names)) {}

  const std::string& of(const event::ResolvedEvent& event) const {
    return names_.at(event.event.origin);
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace skua::writer
