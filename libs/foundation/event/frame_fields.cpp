#include "event/frame_fields.hpp"

#include "event/errc.hpp"

namespace skua::event {

Result<MessageType> message_type(std::optional<std::int64_t> op,
                                 std::optional<std::string_view> t) {
  if (!op) return errc::bad_header;
  if (*op == -1) return MessageType::Error;
  if (*op != 1) return MessageType::Unknown;
  if (!t) return errc::bad_header;
  if (*t == "#commit") return MessageType::Commit;
  if (*t == "#identity") return MessageType::Identity;
  if (*t == "#account") return MessageType::Account;
  if (*t == "#sync") return MessageType::Sync;
  if (*t == "#info") return MessageType::Info;
  return MessageType::Unknown;
}

}  // namespace skua::event
