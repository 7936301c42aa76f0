#include "consumers/messages/message_inbox.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/time.hpp"
#include "consumers/messages/message_inbox.sql.hpp"

namespace skua::consumers {

namespace {

constexpr std::chrono::minutes kLongestWait{1};

}  // namespace

InboxState read_inbox(postgres::Session& session) {
  return session.query_one<InboxState>(sql::inbox_state, InboxState::kMostCounted);
}

std::optional<std::int64_t> newest_waiting_message(postgres::Session& session) {
  return session.query_first<std::int64_t>(sql::inbox_newest);
}

bool has_waiting_message(postgres::Session& session, std::int64_t newest) {
  return session.query_one<bool>(sql::inbox_has_until, newest);
}

std::string inbox_text(const InboxState& inbox) {
  if (inbox.waiting == 0) return "no message waits";
  const bool is_all = inbox.waiting < InboxState::kMostCounted;
  return fmt::format("{}{} in the inbox, the oldest for {}{}", counted(inbox.waiting, "message"),
                     is_all ? "" : " or more",
                     duration_text(std::chrono::floor<std::chrono::seconds>(inbox.oldest)),
                     inbox.waits_for_bootstrap ? ", until the end of the bootstrap" : "");
}

bool is_undrained(const InboxState& inbox) {
  return !inbox.waits_for_bootstrap && inbox.oldest >= kLongestWait;
}

}  // namespace skua::consumers
