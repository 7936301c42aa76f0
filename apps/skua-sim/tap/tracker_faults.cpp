#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "tracker.hpp"

// The events of a TapTracker that no honest Tap sends.

namespace skua::sim {

const std::pair<const std::string, TapRepo>* TapTracker::some_repo() {
  if (repos_.empty()) return nullptr;
  const auto first = said_++ % repos_.size();
  auto place = std::next(repos_.begin(), static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = 0; i < repos_.size(); ++i) {
    if (place->second.state == TapRepo::State::active && place->second.status == "active") {
      return &*place;
    }
    if (++place == repos_.end()) place = repos_.begin();
  }
  return nullptr;
}

bool TapTracker::say_record(const std::string& record_json, std::string_view cid, TimePoint now) {
  const auto* const repo = some_repo();
  if (repo == nullptr) return false;
  // A separate key, so that no honest record is affected.
  auto body = fmt::format(
      R"("type":"record","record":{{"live":true,"did":"{}","rev":"{}","collection":"app.bsky.feed.post","rkey":"odd-{}","action":"create")",
      repo->first, repo->second.rev, said_);
  if (!record_json.empty()) body += R"(,"record":)" + record_json;
  body += fmt::format(R"(,"cid":"{}"}})", cid);
  outbox_.add({repo->first, true, std::move(body)}, now);
  return true;
}

bool TapTracker::say_unknown(TimePoint now) {
  const auto* const repo = some_repo();
  if (repo == nullptr) return false;
  outbox_.add({repo->first, true,
               fmt::format(R"("type":"label","label":{{"did":"{}","val":"odd"}})", repo->first)},
              now);
  odd_fields_next_ = true;
  return true;
}

bool TapTracker::say_poison(TimePoint now) {
  constexpr std::string_view kBefore = R"({"$type":"app.bsky.feed.post","text":"poison","x":)";
  const std::array<std::string, 5> kinds = {
      std::string(kBefore) + R"({"$link":"no cid"}})",
      std::string(kBefore) + "1180591620717411303424}",
      std::string(kBefore) + std::string(300, '[') + std::string(300, ']') + "}",
      R"(["a record that is a list"])", std::string(kBefore) + R"({"$bytes":"%%%"}})"};
  const auto cid = atproto::Cid::of(as_bytes("poison")).to_string();
  return say_record(kinds.at(said_ % kinds.size()), cid, now);
}

bool TapTracker::say_no_record(TimePoint now) {
  return say_record("", atproto::Cid::of(as_bytes("not decoded")).to_string(), now);
}

}  // namespace skua::sim
