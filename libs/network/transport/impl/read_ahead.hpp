#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/bytes.hpp"

namespace skua::transport::impl {

/// Holds the bytes that a websocket client has read from its connection before their turn. Beast
/// takes them in parts that never reach beyond the end of the HTTP answer's head, nor beyond the
/// end of a frame (RFC 6455, section 5.2). So after a message Beast has no bytes of the next one,
/// and `take_message` can take that message without Beast, whose operations cost more than
/// everything else that a dropped message needs.
///
/// It checks nothing that Beast checks: `take_message` leaves all frames to Beast that are not
/// ordinary.
class ReadAhead {
 public:
  explicit ReadAhead(std::size_t size)
      : size_(size), bytes_(std::make_unique_for_overwrite<std::uint8_t[]>(size)) {}

  /// Returns the memory for more bytes. It is not empty after `take` has returned 0.
  std::span<std::uint8_t> space();
  /// Reports that the next `size` bytes of the connection are at the beginning of `space`.
  void filled(std::size_t size) {
    end_ += size;
    ++reads_;
  }
  /// Returns the number of calls of `filled`.
  std::uint64_t reads() const { return reads_; }

  /// Takes bytes, as many as fit into `to` and belong to the current part of the connection.
  /// Returns their number. It is 0 if more bytes are needed, or if `to` is empty.
  std::size_t take(std::span<std::uint8_t> to);

  /// The server has accepted the websocket, so all bytes after the head are frames.
  void begin_frames() { part_ = Part::Frames; }

  struct Message {
    bool text = false;
    /// The content, which is valid until the next call.
    ByteView content;
  };
  /// Takes the next message, if it is an ordinary one that is here as a whole: one frame with data,
  /// valid as RFC 6455 demands, and at most `limit` bytes of content. Otherwise takes nothing. Call
  /// it only between two messages.
  std::optional<Message> take_message(std::size_t limit);

 private:
  enum class Part : std::uint8_t {
    /// The head of the HTTP answer, which ends with an empty line.
    Head,
    /// The body of an answer that accepts no websocket.
    Body,
    Frames,
  };
  /// The head of a frame.
  struct Head {
    std::size_t size = 0;
    std::uint64_t content = 0;
  };

  ByteView rest() const { return {bytes_.get() + begin_, end_ - begin_}; }
  /// Returns how many of the next `most` bytes belong to the answer's head.
  std::size_t within_head(std::size_t most);
  /// Returns how many of the next `most` bytes belong to the current frame.
  std::size_t within_frame(std::size_t most);
  /// Returns the head of a frame that begins here, if all its bytes are here.
  std::optional<Head> head_of_frame() const;

  const std::size_t size_;
  /// The bytes that wait are those from `begin_` to `end_`. The memory has no content at first, so
  /// a quiet stream uses only a part of it.
  const std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t reads_ = 0;
  Part part_ = Part::Head;
  /// Whether the current line of the head has text.
  bool has_text_ = false;
  /// The bytes of the current frame that were not taken.
  std::uint64_t frame_ = 0;
};

}  // namespace skua::transport::impl
