#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admin/action.hpp"
#include "base/utf8.hpp"
#include "feed/consumers/consumer_table.hpp"

namespace skua::admin {
namespace {

using http_server::Response;

/// The live consumer of a name; during a rebuild there is a second one.
std::optional<feed::Consumer> find_consumer(store::Session& session, const std::string& name) {
  for (feed::Consumer& consumer : feed::read_consumers(session)) {
    if (consumer.name == name) return std::move(consumer);
  }
  return std::nullopt;
}

[[noreturn]] void refuse_unknown(const std::string& name) {
  throw Refusal(404, "UnknownConsumer",
                fmt::format("there is no consumer '{}'", printable(name, kLongestName)));
}

/// Changes a consumer. The answer has its state after the change.
template <class Change>
Response change_consumer(store::Session& session, const std::string& name, Change change) {
  if (!find_consumer(session, name)) refuse_unknown(name);
  try {
    change();
  } catch (const feed::ConsumerError& error) {
    throw Refusal(409, "InvalidState", error.what());
  }
  const auto consumer = find_consumer(session, name);
  if (!consumer) refuse_unknown(name);
  const nlohmann::ordered_json body = {
      {"name", name}, {"state", consumer->state}, {"paused", consumer->paused}};
  return {.body = body.dump() + "\n"};
}

}  // namespace

Response pause_consumer(store::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name,
                         [&] { feed::pause_consumer(session, arguments.name, true); });
}

Response resume_consumer(store::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name,
                         [&] { feed::pause_consumer(session, arguments.name, false); });
}

Response reset_consumer(store::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name, [&] {
    feed::reset_consumer(session, arguments.name, feed::AfterStop::Retry);
  });
}

Response rebuild_consumer(store::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name,
                         [&] { feed::rebuild_consumer(session, arguments.name); });
}

}  // namespace skua::admin
