#include <cstddef>

#include "event/errc.hpp"
#include "event/frame_decoder.hpp"
#include "event/frame_fields.hpp"

namespace skua::event {
namespace {

enum class Major : std::uint8_t {
  unsigned_integer,
  negative_integer,
  bytes,
  text,
  list,
  map,
  tag,
  simple
};

/// Walks through CBOR by its heads only, and skips values without parsing them.
class Walker {
 public:
  explicit Walker(ByteView in) : at_(in.data()), end_(in.data() + in.size()) {}

  struct Head {
    Major major = Major::simple;
    std::uint64_t argument = 0;
  };

  Result<Head> head() {
    if (at_ == end_) return errc::frame_truncated;
    Head head;
    head.major = static_cast<Major>(*at_ >> 5);
    const unsigned low = *at_ & 0x1fU;
    ++at_;
    if (low < 24) {
      head.argument = low;
      return head;
    }
    if (low > 27) return errc::frame_malformed;  // also refuses indefinite lengths
    const std::size_t size = std::size_t{1} << (low - 24);
    if (left() < size) return errc::frame_truncated;
    for (std::size_t i = 0; i < size; ++i) head.argument = head.argument << 8 | *at_++;
    return head;
  }

  /// Reads the content of a byte or text string after its head was read.
  Result<std::string_view> content(std::uint64_t size) {
    if (size > left()) return errc::frame_truncated;
    const std::string_view text(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return text;
  }

  /// Skips the rest of a value after its head was read.
  Result<void> skip(Head head) {
    std::uint64_t pending = 0;  // the number of values that are still to be skipped
    while (true) {
      switch (head.major) {
        case Major::bytes:
        case Major::text:
          if (head.argument > left()) return errc::frame_truncated;
          at_ += head.argument;
          break;
        case Major::list:
        case Major::map:
          // Each value has at least one byte, so a larger number of values is false.
          if (head.argument > left()) return errc::frame_truncated;
          pending += head.major == Major::map ? head.argument * 2 : head.argument;
          break;
        case Major::tag:
          ++pending;
          break;
        case Major::unsigned_integer:
        case Major::negative_integer:
        case Major::simple:
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
    if (map->major != Major::map) return errc::frame_malformed;
    for (std::uint64_t i = 0; i < map->argument; ++i) {
      const auto key_head = head();
      if (!key_head) return key_head.error();
      if (key_head->major != Major::text) return errc::frame_malformed;
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
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
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
  const auto header = walker.entries([&](std::string_view key, Walker::Head value) -> Result<Go> {
    if (key == "t" && value.major == Major::text) {
      const auto text = walker.content(value.argument);
      if (!text) return text.error();
      t = *text;
      return Go::On;
    }
    if (key == "op" && value.major == Major::unsigned_integer) {
      op = value.argument == 1 ? 1 : kOtherOp;
    } else if (key == "op" && value.major == Major::negative_integer) {
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

  const auto body = walker.entries([&](std::string_view key, Walker::Head value) -> Result<Go> {
    if (key == "seq" && value.major == Major::unsigned_integer) {
      if (value.argument <= static_cast<std::uint64_t>(kMaxSeq)) {
        peek.seq = static_cast<std::int64_t>(value.argument);
      }
    } else if (value.major == Major::text && key == did_key(peek.type)) {
      const auto text = walker.content(value.argument);
      if (!text) return text.error();
      peek.did = *text;
    } else if (value.major == Major::text && has_revision(peek.type) &&
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
