#include "backfill/letters/letter_replays.hpp"

#include <utility>

namespace skua::backfill {

LetterReplays::LetterReplays(store::Session& session, std::string owner)
    : session_(session),
      lease_{.owner = std::move(owner)},
      clock_(system_clock()),
      filter_(store::load_filter(session)),
      ids_(std::make_unique<resolve::SharedIds>()),
      lexicons_(monotonic_clock()) {
  clock_.compare(session);
}

ReplayedLetter LetterReplays::replay(std::int64_t id) {
  return replay_letter({session_, *ids_, clock_, lexicons_, *filter_}, id, lease_);
}

}  // namespace skua::backfill
