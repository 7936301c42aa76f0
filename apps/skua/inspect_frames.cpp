#include "inspect_frames.hpp"

#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "event/frame_decoder.hpp"
#include "event/jetstream_json.hpp"
#include "transport/capture.hpp"

namespace skua::app {
namespace {

class FramePrinter {
 public:
  FramePrinter(std::ostream& out, std::ostream& err) : out_(out), err_(err) {}

  void print(ByteView frame, std::uint64_t offset) {
    ++frames_;
    if (const auto decoded = decoder_.decode(frame, frame_); !decoded) {
      report_bad(offset, decoded.error().message());
      return;
    }
    switch (frame_.type) {
      case event::MessageType::Info:
        tell(offset, fmt::format("#info {}: {}", frame_.name, frame_.message));
        break;
      case event::MessageType::Error:
        tell(offset, fmt::format("the host's error {}: {}", frame_.name, frame_.message));
        break;
      case event::MessageType::Sync:
        ++syncs_;
        break;
      case event::MessageType::Unknown:
        ++unknown_;
        break;
      case event::MessageType::Commit:
        ++commits_;
        break;
      case event::MessageType::Identity:
      case event::MessageType::Account:
        break;
    }
    for (const event::UnresolvedEvent& event : frame_.events) print(event, offset);
  }

  void report_bad(std::uint64_t offset, const std::string& reason) {
    ++bad_;
    tell(offset, reason);
  }

  /// The exit code.
  int finish(const std::string& problem_with_file) {
    if (!problem_with_file.empty()) {
      ++bad_;
      err_ << problem_with_file << '\n';
    }
    out_.flush();
    if (!out_) {
      ++bad_;
      err_ << "the output could not be written\n";
    }
    err_ << fmt::format("{} frames, {} commits, {} events, {} syncs, {} unknown, {} bad\n", frames_,
                        commits_, events_, syncs_, unknown_, bad_);
    return bad_ == 0 ? 0 : 1;
  }

 private:
  void print(const event::UnresolvedEvent& event, std::uint64_t offset) {
    if (const auto* rejection = std::get_if<event::Rejection>(&event.body)) {
      report_bad(offset, fmt::format("did={} seq={} {}: {}", event.did, event.seq, rejection->what,
                                     rejection->error));
      return;
    }
    ++events_;
    line_.clear();
    writer_.append(line_, event, frame_.time);
    line_ += '\n';
    out_ << line_;
  }

  void tell(std::uint64_t offset, const std::string& what) {
    err_ << fmt::format("frame {} at byte {}: {}\n", frames_, offset, what);
  }

  std::ostream& out_;
  std::ostream& err_;
  event::FrameDecoder decoder_;
  event::DecodedFrame frame_;
  event::JetstreamWriter writer_;
  std::string line_;
  std::uint64_t frames_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t bad_ = 0;
};

}  // namespace

int inspect_frames(const std::filesystem::path& file, std::ostream& out, std::ostream& err) {
  try {
    transport::CaptureReader capture(file);
    FramePrinter printer(out, err);
    while (true) {
      const std::uint64_t offset = capture.offset();
      const auto frame = capture.next();
      // What is wrong with the file itself ends it and is told by `problem`.
      if (!frame || !*frame) break;
      printer.print(**frame, offset);
    }
    return printer.finish(capture.problem());
  } catch (const std::runtime_error& error) {
    err << error.what() << '\n';
    return 1;
  }
}

}  // namespace skua::app
