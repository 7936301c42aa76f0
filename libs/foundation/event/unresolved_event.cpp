#include "event/unresolved_event.hpp"

#include "atproto/syntax.hpp"
#include "base/text.hpp"

namespace skua::event {
namespace {

/// The handle that services show for an account whose handle is not valid
/// (atproto.com/specs/handle).
constexpr std::string_view kInvalidHandle = "handle.invalid";

}  // namespace

std::optional<std::string> handle_hint(std::string_view text) {
  if (!atproto::is_handle(text)) return std::nullopt;
  std::string handle = ascii_lower(text);
  if (handle == kInvalidHandle) return std::nullopt;
  return handle;
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
