#pragma once

#include <string>

#include <fmt/format.h>

#include "event/unresolved_event.hpp"

namespace skua::test {

inline std::string hex_of(ByteView bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// All that an event says but its seq, as text: two events that become the same rows have the same.
inline std::string outline_of(const event::UnresolvedEvent& event) {
  std::string text = fmt::format("{} source={} type={} ", event.at_uri(),
                                 static_cast<int>(event.source), static_cast<int>(event.type));
  if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
    text += fmt::format("operation={} rev={} cid={} block={} record={} invalid={} json={}",
                        static_cast<int>(change->operation), change->rev.to_string(),
                        change->cid ? change->cid->to_string() : "none", hex_of(change->block),
                        change->record.record.index(), change->record.invalid_reason.value_or(""),
                        change->record.json);
  } else if (const auto* identity = std::get_if<event::IdentityChange>(&event.body)) {
    text += fmt::format("handle={} time={}", identity->handle.value_or("none"),
                        format_datetime(identity->time));
  } else if (const auto* account = std::get_if<event::AccountChange>(&event.body)) {
    text += fmt::format("active={} status={} time={} purge={}", account->active, account->status,
                        format_datetime(account->time), account->purge);
  } else {
    const auto& rejection = std::get<event::Rejection>(event.body);
    text += fmt::format("rejected {}: {}: {}", rejection.what, rejection.error,
                        as_text(rejection.payload));
  }
  return text;
}

}  // namespace skua::test
