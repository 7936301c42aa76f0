#include "status/message_status.hpp"

#include <chrono>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace skua::status {

namespace {

constexpr MetricInfo kWaiting{"", "skua_messages_waiting", "messages",
                              "Own messages that are committed and not in the change log yet, "
                              "counted up to 100,000"};
constexpr MetricInfo kOldest{"", "skua_messages_oldest_seconds", "seconds",
                             "Age of the oldest own message that is committed and not in the "
                             "change log yet; 0 if there is none"};

double in_seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::vector<MetricValue> values_of_inbox(const consumers::InboxState& inbox) {
  return {{kWaiting, MetricKind::Gauge, inbox.waiting},
          {kOldest, MetricKind::Gauge, in_seconds(inbox.oldest)}};
}

nlohmann::json read_message_status(postgres::Session& session) {
  const consumers::InboxState inbox = consumers::read_inbox(session);
  return {{"waiting", inbox.waiting},
          {"oldest_seconds",
           inbox.waiting > 0 ? nlohmann::json(in_seconds(inbox.oldest)) : nlohmann::json()},
          {"waits_for_bootstrap", inbox.waits_for_bootstrap}};
}

std::string message_status_text(const nlohmann::json& messages) {
  const auto waiting = messages["waiting"].get<std::int64_t>();
  if (waiting == 0) return {};
  const std::chrono::duration<double> oldest(messages["oldest_seconds"].get<double>());
  return "\nmessages\n  " +
         consumers::inbox_text(
             {.waiting = waiting,
              .oldest = std::chrono::duration_cast<std::chrono::milliseconds>(oldest),
              .waits_for_bootstrap = messages["waits_for_bootstrap"].get<bool>()}) +
         "\n";
}

}  // namespace skua::status
