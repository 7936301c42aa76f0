#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "accounts/account_source.hpp"
#include "base/count_text.hpp"
#include "commands.hpp"
#include "event/frame_decoder.hpp"
#include "event/jetstream_json.hpp"
#include "ingest/commit_processor.hpp"
#include "option.hpp"
#include "settings.hpp"
#include "transport/capture.hpp"
#include "verify/errc.hpp"

namespace skua::cli {
namespace {

using ingest::CommitProcessor;

/// Verifies the messages of a capture one after another, as `skua run` does, with the keys of a
/// file of DID documents. The clock shows the time of each message. It counts the results. One
/// thread.
class CommitJudge {
 public:
  /// Throws std::runtime_error when the file cannot be used.
  explicit CommitJudge(const std::filesystem::path& did_docs) : accounts_(did_docs) {}

  struct Judgement {
    /// The reason why the message is dropped; empty: it is verified. Static text.
    std::string_view reason;
    bool is_refused = false;
  };

  /// Judges a #commit or #sync. Of an #account message it takes the hosting status.
  Judgement judge(event::DecodedFrame& message) {
    const CommitProcessor::Outcome outcome = process(message);
    if (message.type == event::MessageType::Account) return {};
    Judgement judgement;
    if (const auto* dropped = std::get_if<CommitProcessor::Drop>(&outcome)) {
      judgement = {verify::name_of(dropped->reason), verify::is_refusal(dropped->reason)};
    } else if (const auto* accepted = std::get_if<CommitProcessor::Accept>(&outcome)) {
      if (accepted->continuity == verify::Continuity::Broken) ++broken_;
    }
    ++totals_[judgement.reason];
    return judgement;
  }

  /// The number of commits by reason; the empty reason: verified.
  const std::map<std::string_view, std::uint64_t>& totals() const { return totals_; }
  /// Verified, but the capture lacks an earlier message of the repository.
  std::uint64_t broken() const { return broken_; }
  const std::string& problem() const { return accounts_.problem(); }

 private:
  CommitProcessor::Outcome process(event::DecodedFrame& message) {
    using What = CommitProcessor::Ask::What;
    const Timestamp now = message.time;
    ingest::Answers answers;
    while (true) {
      CommitProcessor::Outcome outcome = processor_.process(message, answers, false, now);
      const auto* question = std::get_if<CommitProcessor::Ask>(&outcome);
      if (question == nullptr) return outcome;
      if (question->what == What::Repository) {
        store::RepositoryRow unknown;
        unknown.did = message.did;
        processor_.set_repository(unknown);
      }
      // The other question is for the identity: without hosts the processor asks nothing else.
      accounts_.identity(message.did, question->freshness,
                         [&](const Result<identity::Account>& account) {
                           processor_.set_identity(message.did, account, question->freshness, now);
                           if (account) answers.document_handle = account->handle;
                         });
      answers.has_fresh_identity = question->what == What::Identity;
    }
  }

  accounts::DocumentAccounts accounts_;
  CommitProcessor processor_{{.has_hosts = false}};
  std::map<std::string_view, std::uint64_t> totals_;
  std::uint64_t broken_ = 0;
};

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

/// `skua inspect frames`: prints each op, account and identity event of a capture to `out` as a
/// JSON line in the format of Jetstream v1; ops in the order of their commit. Invalid input (a
/// frame, an op, a truncated end) is reported on `err`, and reading continues; totals follow at the
/// end. Returns the exit code: 1 if anything was invalid.
///
/// With `did_docs`, a file of DID documents, each line of a commit says `"verified":true`, or
/// `false` with the reason. The totals are by reason, and a rejected commit counts as invalid. An
/// outdated commit (an inactive account, a revision that occurred before) does not.
int inspect_frames(const std::filesystem::path& file, const OptionalText& did_docs,
                   std::ostream& out, std::ostream& err) {
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

}  // namespace

CommandSpecs inspect_commands() {
  return {{"inspect", "Print the content of a capture or a repository"},
          {"inspect frames",
           "Print a JSON line for each operation, account and identity event of a capture",
           {required(kFile, "A capture"), kDidDocs},
           [](const Invocation& invocation) {
             return inspect_frames(invocation[kFile], invocation[kDidDocs], std::cout, std::cerr);
           }}};
}

}  // namespace skua::cli
