#include "inspect_frames.hpp"

#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "commit_judge.hpp"
#include "event/frame_decoder.hpp"
#include "event/jetstream_json.hpp"
#include "input_file.hpp"
#include "transport/capture.hpp"

namespace skua::cli {
namespace {

class FramePrinter {
 public:
  /// Without a judge nothing is verified.
  FramePrinter(CommitJudge* judge, std::ostream& out, std::ostream& err)
      : judge_(judge), out_(out), err_(err) {}

  void print(ByteView frame, std::uint64_t offset) {
    ++frames_;
    if (const auto decoded = decoder_.decode(frame, frame_); !decoded) {
      report_bad(offset, decoded.error().message());
      return;
    }
    judge(offset);
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
    err_ << fmt::format("{}, {}, {}, {}, {} unknown, {} bad\n", counted(frames_, "frame"),
                        counted(commits_, "commit"), counted(events_, "event"),
                        counted(syncs_, "sync"), unknown_, bad_);
    tell_verdicts();
    return bad_ == 0 ? 0 : 1;
  }

 private:
  /// Sets `verdict_`, which is added to each line of a commit.
  void judge(std::uint64_t offset) {
    verdict_.clear();
    using enum event::MessageType;
    if (judge_ == nullptr ||
        (frame_.type != Commit && frame_.type != Sync && frame_.type != Account)) {
      return;
    }
    const auto [reason, is_refused] = judge_->judge(frame_);
    if (frame_.type == Account) return;
    if (reason.empty()) {
      verdict_ = R"(,"verified":true})";
      return;
    }
    verdict_ = fmt::format(R"(,"verified":false,"reason":"{}"}})", reason);
    if (!is_refused) return;
    report_bad(offset,
               fmt::format("did={} seq={}: not verified: {}", frame_.did, frame_.seq, reason));
  }

  void tell_verdicts() {
    if (judge_ == nullptr) return;
    std::string reasons;
    std::uint64_t refused = 0;
    for (const auto& [reason, count] : judge_->totals()) {
      if (reason.empty()) continue;
      refused += count;
      reasons += fmt::format("{}{} {}", reasons.empty() ? ": " : ", ", reason, count);
    }
    const auto verified = judge_->totals().find("");
    err_ << fmt::format("{} verified ({} of them after a gap), {} not{}\n",
                        verified == judge_->totals().end() ? 0 : verified->second, judge_->broken(),
                        refused, reasons);
  }

  void print(const event::UnresolvedEvent& event, std::uint64_t offset) {
    if (const auto* rejection = std::get_if<event::Rejection>(&event.body)) {
      report_bad(offset, fmt::format("did={} seq={} {}: {}", event.did, event.seq, rejection->what,
                                     rejection->error));
      return;
    }
    ++events_;
    line_.clear();
    writer_.append(line_, event, frame_.time);
    if (!verdict_.empty()) line_.replace(line_.size() - 1, 1, verdict_);
    line_ += '\n';
    out_ << line_;
  }

  void tell(std::uint64_t offset, const std::string& what) {
    err_ << fmt::format("frame {} at byte {}: {}\n", frames_, offset, what);
  }

  CommitJudge* judge_;
  std::ostream& out_;
  std::ostream& err_;
  std::string verdict_;
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

int inspect_frames(const std::filesystem::path& file,
                   const std::optional<std::filesystem::path>& did_docs, std::ostream& out,
                   std::ostream& err) {
  cli::require_file("FILE", file);
  if (did_docs) cli::require_file("--did-docs", *did_docs);
  try {
    transport::CaptureReader capture(file);
    std::optional<CommitJudge> judge;
    if (did_docs) {
      judge.emplace(*did_docs);
      if (!judge->problem().empty()) err << judge->problem() << '\n';
    }
    FramePrinter printer(judge ? &*judge : nullptr, out, err);
    while (out) {
      const std::uint64_t offset = capture.offset();
      const auto frame = capture.next();
      // A problem with the file itself ends the loop; `problem` reports it.
      if (!frame || !*frame) break;
      printer.print(**frame, offset);
    }
    return printer.finish(capture.problem());
  } catch (const std::runtime_error& error) {
    err << error.what() << '\n';
    return 1;
  }
}

}  // namespace skua::cli
