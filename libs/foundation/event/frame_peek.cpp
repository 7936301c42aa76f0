#include <cstddef>

#include "event/errc.hpp"
#include "event/frame_decoder.hpp"
#include "event/frame_fields.hpp"
#include "repo/cbor_head.hpp"

namespace skua::event {
namespace {

using repo::CborHead;
using repo::CborHeadError;
using repo::CborMajor;

/// Walks through CBOR by its heads only, and skips values without parsing them.
class Walker {
 public:
  explicit Walker(ByteView in) : rest_(in) {}

  Result<CborHead> head() {
    CborHead head;
    const CborHeadError error = read_cbor_head(rest_, head);
    if (error == CborHeadError::None) return head;
    return error == CborHeadError::Truncated ? errc::frame_truncated : errc::frame_malformed;
  }

  /// Reads the content of a byte or text string after its head was read.
  Result<std::string_view> content(std::uint64_t size) {
    if (size > rest_.size()) return errc::frame_truncated;
    const std::string_view text = as_text(rest_.first(size));
    rest_ = rest_.subspan(size);
    return text;
  }

  /// Skips the rest of a value after its head was read.
  Result<void> skip(CborHead head) {
    std::uint64_t pending = 0;  // the number of values that are still to be skipped
    while (true) {
      switch (head.major) {
        case CborMajor::bytes:
        case CborMajor::text:
          if (head.argument > rest_.size()) return errc::frame_truncated;
          rest_ = rest_.subspan(head.argument);
          break;
        case CborMajor::list:
        case CborMajor::map:
          // Each value has at least one byte, so a larger number of values is false.
          if (head.argument > rest_.size()) return errc::frame_truncated;
          pending += head.major == CborMajor::map ? head.argument * 2 : head.argument;
          break;
        case CborMajor::tag:
          ++pending;
          break;
        case CborMajor::unsigned_integer:
        case CborMajor::negative_integer:
        case CborMajor::simple:
          break;
      }
      if (pending == 0) return {};
      --pending;
      const auto next = this->head();
      if (!next) return next.error();
      head = *next;
    }
  }

  enum class Go : std::uint8_t { On, Stop };

  /// Calls `visit(key, head of the value)` for each entry of the map at this position until it
  /// returns Stop. `visit` must read or skip the value.
  template <class F>
  Result<void> entries(F&& visit) {
    const auto map = head();
    if (!map) return map.error();
    if (map->major != CborMajor::map) return errc::frame_malformed;
    for (std::uint64_t i = 0; i < map->argument; ++i) {
      const auto key_head = head();
      if (!key_head) return key_head.error();
      if (key_head->major != CborMajor::text) return errc::frame_malformed;
      const auto key = content(key_head->argument);
      if (!key) return key.error();
      const auto value = head();
      if (!value) return value.error();
      const Result<Go> go = visit(*key, *value);
      if (!go) return go.error();
      if (*go == Go::Stop) return {};
    }
    return {};
  }

 private:
  ByteView rest_;
};

/// Represents all operations that do not matter for routing.
constexpr std::int64_t kOtherOp = 0;

bool has_revision(MessageType type) {
  return type == MessageType::Commit || type == MessageType::Sync;
}

bool has_route(const FramePeek& peek) {
  return peek.seq != 0 && !peek.did.empty();
}

bool is_complete(const FramePeek& peek) {
  return has_route(peek) && (!has_revision(peek.type) || (!peek.rev.empty() && !peek.time.empty()));
}

/// Returns the key of the account's DID in the body of a message.
std::string_view did_key(MessageType type) {
  return type == MessageType::Commit ? "repo" : "did";
}

}  // namespace

Result<FramePeek> peek_frame(ByteView frame) {
  Walker walker(frame);
  FramePeek peek;
  std::optional<std::int64_t> op;
  std::optional<std::string_view> t;
  using Go = Walker::Go;
  const auto header = walker.entries([&](std::string_view key, CborHead value) -> Result<Go> {
    if (key == "t" && value.major == CborMajor::text) {
      const auto text = walker.content(value.argument);
      if (!text) return text.error();
      t = *text;
      return Go::On;
    }
    if (key == "op" && value.major == CborMajor::unsigned_integer) {
      op = value.argument == 1 ? 1 : kOtherOp;
    } else if (key == "op" && value.major == CborMajor::negative_integer) {
      op = value.argument == 0 ? -1 : kOtherOp;  // CBOR stores -1 - argument
    }
    if (const auto skipped = walker.skip(value); !skipped) return skipped.error();
    return Go::On;
  });
  if (!header) return header.error();
  const auto type = message_type(op, t);
  if (!type) return type.error();
  peek.type = *type;
  if (peek.type == MessageType::Error || peek.type == MessageType::Info) return peek;

  const auto body = walker.entries([&](std::string_view key, CborHead value) -> Result<Go> {
    if (key == "seq" && value.major == CborMajor::unsigned_integer) {
      if (value.argument <= static_cast<std::uint64_t>(kMaxSeq)) {
        peek.seq = static_cast<std::int64_t>(value.argument);
      }
    } else if (value.major == CborMajor::text && key == did_key(peek.type)) {
      const auto text = walker.content(value.argument);
      if (!text) return text.error();
      peek.did = *text;
    } else if (value.major == CborMajor::text && has_revision(peek.type) &&
               (key == "rev" || key == "time")) {
      const auto text = walker.content(value.argument);
      if (!text) return text.error();
      (key == "rev" ? peek.rev : peek.time) = *text;
    } else if (const auto skipped = walker.skip(value); !skipped) {
      return skipped.error();
    }
    return is_complete(peek) ? Go::Stop : Go::On;
  });
  // A peek succeeds if the frame is malformed only after the fields for routing. The decoder
  // reports the fault.
  if (!body && !has_route(peek)) return body.error();
  return peek;
}

}  // namespace skua::event
