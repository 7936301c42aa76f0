#include "sources/labeler/discovery/labeler_documents.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "documents/errc.hpp"

namespace skua::sources {

std::vector<std::string> LabelerDocuments::due(const std::vector<std::string>& dids,
                                               TimePoint now) {
  const std::unordered_set<std::string_view, SeededHash> wanted(dids.begin(), dids.end());
  // An entry with a missing answer stays, because the answer will still come.
  std::erase_if(entries_, [&](const auto& entry) {
    return !entry.second.is_asked && !wanted.contains(entry.first);
  });
  std::vector<std::string> due;
  for (const std::string& did : dids) {
    if (asked_ >= options_.at_once) break;
    Entry& entry = entries_[did];
    if (entry.is_asked || now < entry.ask_at) continue;
    entry.is_asked = true;
    ++asked_;
    due.push_back(did);
  }
  return due;
}

void LabelerDocuments::answered(const std::string& did, const Result<documents::Account>& answer,
                                TimePoint now) {
  Entry& entry = entries_.at(did);
  entry.is_asked = false;
  --asked_;
  if (!answer && documents::is_server_failure(answer.error())) {
    entry.wait = std::clamp(2 * entry.wait, options_.retry_after, options_.fresh_for);
    entry.ask_at = now + entry.wait;
    return;
  }
  entry.is_known = true;
  entry.origin = answer ? answer->labeler : std::string();
  entry.wait = std::chrono::milliseconds(0);
  entry.ask_at = now + options_.fresh_for;
}

const std::string* LabelerDocuments::origin_of(const std::string& did) const {
  const auto entry = entries_.find(did);
  return entry != entries_.end() && entry->second.is_known ? &entry->second.origin : nullptr;
}

}  // namespace skua::sources
