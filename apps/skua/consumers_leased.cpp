#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "base/random.hpp"
#include "change_feed/leased/leased_filter.hpp"
#include "change_feed/leased/pull_request.hpp"
#include "change_feed/leased/webhook_message.hpp"
#include "consumers.hpp"
#include "consumers_session.hpp"
#include "feed/leases/leased_consumers.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {
namespace {

feed::FirstChange first_change(const std::string& from) {
  if (from == "live") return feed::FromNow{};
  if (from == "oldest") return feed::FromOldest{};
  return feed::FromPosition{whole_number({from, "--from"}, 1, std::int64_t{1} << 62)};
}

/// The filter of the flags, as in `skua.consumers.filter`. Throws UsageError.
std::string filter_of(const ConsumersFlags& flags) {
  for (const std::string& did : flags.dids) {
    if (const auto account = atproto::check_account_did(did); !account) {
      throw UsageError(fmt::format("--did: '{}' is {}", did, account.error().message()));
    }
  }
  nlohmann::json filter = nlohmann::json::object();
  const std::pair<const char*, const std::vector<std::string>*> members[] = {
      {"collections", &flags.collections},
      {"dids", &flags.dids},
      {"ops", &flags.ops},
      {"kinds", &flags.kinds}};
  for (const auto& [name, values] : members) {
    if (!values->empty()) filter[name] = *values;
  }
  std::string text = filter.dump();
  if (const auto parsed = change_feed::parse_leased_filter(text); !parsed) {
    throw UsageError(parsed.error());
  }
  return text;
}

}  // namespace

int consumers_add_leased(const Settings& settings, const ConsumersFlags& flags) {
  if (flags.is_pull && flags.webhook) throw UsageError("give --pull or --webhook, not both");
  feed::NewLeasedConsumer consumer{.name = flags.name,
                                   .filter = filter_of(flags),
                                   .lanes = static_cast<std::int16_t>(flags.lanes.value_or(1)),
                                   .policy = flags.policy,
                                   .profile = flags.profile,
                                   .overrides = tuning_overrides(flags.overrides),
                                   .first = first_change(flags.from.value_or("live"))};
  if (flags.webhook) {
    if (const auto url = transport::parse_http_url(*flags.webhook); !url) {
      throw UsageError(fmt::format("--webhook {}: {}", *flags.webhook, url.error().message()));
    }
    consumer.url = *flags.webhook;
  }
  require_valid(consumer);
  if (flags.is_pull) {
    const std::string token = random_token();
    consumer.secret = change_feed::token_hash(token);
    return attempt(
        settings, flags, "add",
        fmt::format("added {}: it fetches changes from `skua serve` with this token, which is not "
                    "shown again:\n{}",
                    flags.name, token),
        [&](store::Session& session) { feed::add_leased_consumer(session, consumer); });
  }
  consumer.secret = change_feed::new_webhook_secret();
  return attempt(settings, flags, "add",
                 fmt::format("added {}: `skua serve` sends changes to {}, signed with this secret, "
                             "which is not shown again:\n{}",
                             flags.name, consumer.url, consumer.secret),
                 [&](store::Session& session) { feed::add_leased_consumer(session, consumer); });
}

int consumers_move(const Settings& settings, const ConsumersFlags& flags) {
  if (flags.skip) throw UsageError("give --from or --skip, not both");
  const feed::FirstChange first = first_change(*flags.from);
  return attempt(
      settings, flags, "reset",
      fmt::format("{} continues with {}", flags.name,
                  *flags.from == "live"     ? "the next change"
                  : *flags.from == "oldest" ? "the oldest change"
                                            : "position " + *flags.from),
      [&](store::Session& session) { feed::move_leased_consumer(session, flags.name, first); });
}

}  // namespace skua::cli
