#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "event/resolved_event.hpp"

namespace skua::writer {

/// The names of a process's sources ("relay:host"), by UnresolvedEvent::origin: what tombstones and
/// dead letters call them. Copies share the names.
class SourceNames {
 public:
  explicit SourceNames(std::string only) : SourceNames(std::vector{std::move(only)}) {}
  explicit SourceNames(std::vector<std::string> names)
      : names_(std::make_shared<std::vector<std::string>>(std::move(names))) {}

  const std::string& of(const event::ResolvedEvent& event) const {
    return names_->at(event.event.origin);
  }

  /// While no worker has an event of this source. Not beside another call for the same source.
  void set(std::uint32_t origin, std::string name) { names_->at(origin) = std::move(name); }

 private:
  std::shared_ptr<std::vector<std::string>> names_;
};

}  // namespace skua::writer
