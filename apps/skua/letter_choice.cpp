#include "letter_choice.hpp"

#include <chrono>
#include <limits>

#include <fmt/format.h>

#include "atproto/syntax.hpp"

namespace skua::cli {

store::LetterFilter letter_filter(const DeadLettersFlags& flags) {
  store::LetterFilter filter;
  filter.ids.reserve(flags.ids.size());
  for (const std::string& id : flags.ids) {
    filter.ids.push_back(whole_number({id, "ID"}, 1, std::numeric_limits<std::int64_t>::max()));
  }
  filter.consumer = flags.consumer;
  filter.did = flags.did;
  if (flags.did && !atproto::is_did(*flags.did)) {
    throw UsageError(fmt::format("--did: '{}' is not a DID", *flags.did));
  }
  filter.error = flags.error;
  filter.statuses.reserve(flags.statuses.size());
  for (const std::string& word : flags.statuses) {
    const auto status = store::letter_status(word);
    if (!status) {
      throw UsageError(fmt::format(
          "--status: '{}' is not one of dead, requested, replaying, resolved, discarded", word));
    }
    filter.statuses.push_back(*status);
  }
  if (flags.older_than) {
    filter.older_than = duration({*flags.older_than, "--older-than"}, std::chrono::seconds(0),
                                 std::chrono::days(3650));
  }
  return filter;
}

}  // namespace skua::cli
