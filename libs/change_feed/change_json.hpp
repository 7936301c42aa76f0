#pragma once

#include <optional>
#include <string>

#include "change_feed/change_event.hpp"

namespace skua::change_feed {

/// An event of `/changes` (docs/feeds.md).
std::string change_json(const ChangeEvent& event);

/// A message of Jetstream v1 `/subscribe`; nothing: Jetstream has no message for the change, or the
/// record is superseded. `time_us` is that of the message.
std::optional<std::string> jetstream_json(const ChangeEvent& event, std::int64_t time_us);

}  // namespace skua::change_feed
