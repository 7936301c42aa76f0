#include "streams/leased/letter_event.hpp"

#include "streams/change_event.hpp"
#include "streams/change_filter.hpp"
#include "streams/log_pages.hpp"

namespace skua::streams {

consumers::LetterEvent read_letter_event(postgres::Session& session, std::int64_t pos) {
  const std::int32_t timeline = read_log_state(session).timeline;
  const auto page =
      read_page(session, timeline, pos, 0, ChangeFilter{}, {.changes = 1, .events = 1});
  if (!page || page->events.empty()) return {};
  const ChangeEvent& event = *page->events.front();
  consumers::LetterEvent letter{.event = change_json(event), .keys = {}};
  if (event.record.empty() && !event.message) return letter;
  ChangeEvent keys = event;
  keys.record.clear();
  keys.omits_record = true;
  letter.keys = change_json(keys);
  return letter;
}

}  // namespace skua::streams
