#include "event/unresolved_event.hpp"

#include "atproto/syntax.hpp"
#include "base/ascii.hpp"

namespace skua::event {

std::optional<std::string> handle_hint(std::string_view text) {
  if (!atproto::is_handle(text)) return std::nullopt;
  return ascii_lower(text);
}

std::string label_path(std::uint32_t place) {
  return std::string(kLabelPath) + std::to_string(place);
}

std::string UnresolvedEvent::at_uri() const {
  std::string uri = "at://" + did;
  if (const auto* change = std::get_if<RecordChange>(&body)) {
    uri += '/';
    uri += change->collection;
    uri += '/';
    uri += change->rkey;
  }
  return uri;
}

}  // namespace skua::event
