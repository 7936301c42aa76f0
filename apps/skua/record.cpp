#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "addresses.hpp"
#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "event/frame_decoder.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"
#include "transport/capture.hpp"
#include "transport/stream_client.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

const Option<SettingValue> kUrl({.name = "URL", .meaning = "Relay or PDS, wss://host"});
const Option<bool> kAppend({.name = "--append",
                            .meaning = "Add to the capture if the file exists"});
// With zero frames the recording continues until it is stopped.
const Option<std::uint64_t> kFrames({.name = "--frames",
                                     .type = "NUMBER",
                                     .meaning = "Stop after this number of frames"},
                                    number_in<std::uint64_t>(0, std::int64_t{1} << 62));

/// Writes the frames of a relay to a capture. The client's thread calls all functions, except for
/// the metrics.
class Recorder final : public transport::FrameSink {
 public:
  Recorder(transport::CaptureWriter& capture, std::uint64_t limit)
      : capture_(capture), limit_(limit) {}

  bool try_accept(transport::RawFrame& frame) override {
    if (done()) return false;
    if (const auto peek = event::peek_frame(frame.bytes); peek.has_value() && peek->seq != 0) {
      position_ = peek->seq;
    }
    if (frame.defect) {
      logger("relay")->warn("a message is left out: {}", frame.defect.message());
      return true;
    }
    try {
      capture_.append(frame.bytes);
      // Each frame is flushed, because frames are rare enough and a killed recording must keep its
      // frames.
      capture_.flush();
    } catch (const std::exception& error) {
      failure_.with([&](auto& failure) { failure = error.what(); });
      return false;
    }
    bytes_ += frame.bytes.size();
    frames_ += 1;
    return true;
  }
  /// Never calls `wake`, because the recording has ended.
  void when_room(std::function<void()>) override {}
  void on_connected(std::uint64_t /*connection*/) override {
    logger("relay")->info(
        "connected{}", position_ ? fmt::format(", continuing after seq {}", *position_) : ", live");
  }
  void on_disconnected(const transport::Disconnection& end) override {
    logger("relay")->warn("{}; retrying in {:.1f} s", end.reason,
                          static_cast<double>(end.next_attempt_in.count()) / 1000.0);
  }

  bool done() const { return (limit_ != 0 && frames_ >= limit_) || failure().has_value(); }
  std::optional<std::string> failure() const {
    return failure_.with([](const auto& failure) { return failure; });
  }
  std::optional<std::int64_t> position() const { return position_; }
  void start_at(std::optional<std::int64_t> position) { position_ = position; }
  std::uint64_t frames() const { return frames_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  transport::CaptureWriter& capture_;
  const std::uint64_t limit_;
  std::optional<std::int64_t> position_;
  Guarded<std::optional<std::string>> failure_;
  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

/// Refuses an existing file: the user must request a second recording in the same file explicitly.
void require_new(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  throw UsageError(
      fmt::format("{}: the file exists; --append adds to it, or name a new file", file));
}

int record(const Invocation& invocation) {
  StopSignal stop_signal;
  const auto relay = relay_address(invocation[kUrl]);
  const std::string file = invocation[kFile];
  std::optional<std::int64_t> start;
  if (const auto cursor = invocation[kCursor];
      cursor && cursor->kind != sources::CursorChoice::Kind::Live) {
    start = cursor->seq;
  }
  if (!invocation[kAppend]) require_new(file);
  const std::string ca_file = invocation[kCaFile];
  transport::CaptureWriter capture(file);
  Recorder recorder(capture, invocation[kFrames]);
  recorder.start_at(start);
  auto options = transport::relay_stream(relay, [&recorder] { return recorder.position(); });
  options.ca_file = ca_file;
  transport::StreamClient client(std::move(options), recorder);
  print_progress(fmt::format("recording into {}; Ctrl-C stops", file), stderr);
  client.start();
  while (!recorder.done() && !stop_signal.wait_for(std::chrono::milliseconds(200))) {
  }
  client.stop();
  if (const auto failure = recorder.failure()) {
    command_line::print_stderr("skua record: {}\n", *failure);
    return kFailure;
  }
  if (recorder.frames() == 0) {
    command_line::print_stderr(
        "skua record: no frame arrived: {}\n",
        std::filesystem::exists(file) ? file + " is unchanged" : "there is no file " + file);
    return kFailure;
  }
  capture.flush();
  fmt::print("recorded {}, {}\n", counted(recorder.frames(), "frame"),
             counted(recorder.bytes(), "byte"));
  return kSuccess;
}

}  // namespace

CommandSpecs record_commands() {
  const OptionUse url = required(kUrl);
  const OptionUse file = required(kFile, "The capture, a new file");
  const OptionUse cursor{
      kCursor,
      {.meaning = "Start position: live, oldest, or a sequence number", .default_text = "live"}};
  return {{"record",
           "Write the frames of a relay to a capture until stopped",
           {url, file, kAppend, cursor, kCaFile, kFrames},
           record}};
}

}  // namespace skua::cli
