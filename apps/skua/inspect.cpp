#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "accounts/account_source.hpp"
#include "atproto/data_model.hpp"
#include "atproto/signing.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "documents/document_file.hpp"
#include "event/frame_decoder.hpp"
#include "event/jetstream_message.hpp"
#include "option.hpp"
#include "pipeline/commit_processor.hpp"
#include "records/json_text.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/mst_reader.hpp"
#include "repo/repository_listing.hpp"
#include "settings.hpp"
#include "transport/capture.hpp"
#include "verify/errc.hpp"

namespace skua::cli {

namespace {

using pipeline::CommitProcessor;

/// Verifies the messages of a capture one after another, as `skua run` does, with the keys of a
/// file of DID documents. The time of each message serves as the current time. Counts the results.
/// One thread.
class CommitJudge {
 public:
  /// Throws std::runtime_error if the file cannot be used.
  explicit CommitJudge(const std::filesystem::path& did_docs) : accounts_(did_docs) {}

  struct Judgement {
    /// The reason why the message is dropped, a static text; empty if the message is verified.
    std::string_view reason;
    bool is_refused = false;
  };

  /// Judges a #commit or #sync message. From an #account message only the hosting status is taken.
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

  /// Returns the number of commits by reason. The empty reason counts verified commits.
  const std::map<std::string_view, std::uint64_t>& totals() const { return totals_; }
  /// Returns the number of verified commits for which the capture lacks an earlier message of the
  /// repository.
  std::uint64_t broken() const { return broken_; }
  const std::string& problem() const { return accounts_.problem(); }

 private:
  CommitProcessor::Outcome process(event::DecodedFrame& message) {
    using What = CommitProcessor::Ask::What;
    const Timestamp now = message.time;
    pipeline::Answers answers;
    while (true) {
      CommitProcessor::Outcome outcome = processor_.process(message, answers, false, now);
      const auto* question = std::get_if<CommitProcessor::Ask>(&outcome);
      if (question == nullptr) return outcome;
      if (question->what == What::Repository) {
        tables::RepositoryRow unknown;
        unknown.did = message.did;
        processor_.set_repository(unknown);
      }
      // The only other question is the one for the identity, because the processor knows no hosts.
      accounts_.identity(message.did, question->freshness,
                         [&](const Result<documents::Account>& account) {
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
  /// `judge` may be null; then nothing is verified.
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

  /// Prints the totals and returns the exit code.
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
/// JSON line in the format of Jetstream v1. Ops have the order of their commit. Invalid input (a
/// frame, an op, a truncated end) is reported on `err`, and reading continues. Totals follow at the
/// end. Returns the exit code, which is 1 if any input was invalid.
///
/// With `did_docs`, a file of DID documents, each line of a commit says `"verified":true`, or
/// `false` with the reason. The totals are by reason, and a rejected commit counts as invalid. An
/// outdated commit (an inactive account, a revision that occurred before) does not count as
/// invalid.
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
      // A problem of the file itself ends the loop, and `problem` reports it.
      if (!frame || !*frame) break;
      printer.print(**frame, offset);
    }
    return printer.finish(capture.problem());
  } catch (const std::runtime_error& error) {
    err << error.what() << '\n';
    return 1;
  }
}

std::optional<Bytes> read_whole(const std::filesystem::path& file, std::ostream& err) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) {
    err << fmt::format("{}: cannot be read: {}\n", file.string(),
                       error ? error.message() : std::generic_category().message(errno));
    return std::nullopt;
  }
  Bytes bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

class RecordPrinter {
 public:
  RecordPrinter(const repo::BlockMap& blocks, bool json, std::ostream& out, std::ostream& err)
      : blocks_(blocks), json_(json), out_(out), err_(err) {}

  void print(std::string_view path, const atproto::Cid& cid) {
    const auto block = blocks_.find(cid.digest);
    if (block == blocks_.end()) {
      ++missing_;
      err_ << fmt::format("missing record: {} {}\n", readable(path), cid.to_string());
      return;
    }
    line_.clear();
    if (json_) {
      if (!append_json_line(path, cid, block->second)) return;
    } else {
      line_ += readable(path);
      line_ += '\t';
      line_ += cid.to_string();
    }
    line_ += '\n';
    out_ << line_;
    ++printed_;
  }

  std::size_t printed() const { return printed_; }
  std::size_t missing() const { return missing_; }
  std::size_t bad() const { return bad_; }

 private:
  /// Returns a path for printing. A path that is not plain ASCII is malformed and may be malicious,
  /// for example to overwrite printed lines, so it is printed as a JSON string, or described.
  static std::string readable(std::string_view path) {
    bool plain = true;
    for (const char c : path) plain = plain && c > ' ' && c < '\x7f';
    if (plain) return std::string(path);
    if (!is_utf8(path)) return "(a path that is not UTF-8)";
    std::string quoted;
    records::append_json_string(quoted, path, records::Nul::Escape);
    return quoted;
  }

  bool append_json_line(std::string_view path, const atproto::Cid& cid, ByteView block) {
    const auto read = repo::read_dag_cbor(block, record_, repo::kAnyForm);
    if (!read || !is_utf8(path)) {
      ++bad_;
      err_ << fmt::format("bad record: {} {}: {}\n", readable(path), cid.to_string(),
                          read ? "its path is not UTF-8" : read.error().message());
      return false;
    }
    line_ += R"({"path":)";
    records::append_json_string(line_, path, records::Nul::Escape);
    line_ += fmt::format(R"(,"cid":"{}","record":)", cid.to_string());
    records::append_json(line_, record_.root(), records::Nul::Escape);
    line_ += '}';
    return true;
  }

  const repo::BlockMap& blocks_;
  const bool json_;
  std::ostream& out_;
  std::ostream& err_;
  atproto::Document record_;
  std::string line_;
  std::size_t printed_ = 0;
  std::size_t missing_ = 0;
  std::size_t bad_ = 0;
};

/// Reports whether the account's key signed the commit. Returns false if another key did, or if
/// this cannot be determined.
bool check_signature(const repo::Commit& commit, const std::filesystem::path& did_docs,
                     std::ostream& err) {
  try {
    const auto documents = documents::DocumentFile::read(did_docs);
    const documents::Account* account = documents.find(commit.did);
    if (account == nullptr || !account->key) {
      err << fmt::format("not verified: no usable document of {} in {}\n", commit.did,
                         did_docs.string());
      return false;
    }
    const auto checked = atproto::verify_signature(
        *account->key, repo::unsigned_commit_bytes(commit), commit.signature);
    if (!checked) {
      err << fmt::format("not verified: {}\n", checked.error().message());
      return false;
    }
    err << "verified: the commit is signed by its account's key\n";
    return true;
  } catch (const std::runtime_error& error) {
    err << error.what() << '\n';
    return false;
  }
}

/// `skua inspect repo`: lists the records of a repository's CAR on `out` in key order, as lines
/// `path<TAB>cid`, or with `json` as lines with one JSON object: path, cid, record. Totals, and the
/// missing parts of a partial repository, go to `err`. Returns the exit code: 1 if anything was
/// missing or invalid. With `did_docs`, a file of DID documents, it checks the commit's signature
/// and reports on `err`; a signature with another key counts as invalid.
int inspect_repo(const std::filesystem::path& file, bool json, const OptionalText& did_docs,
                 std::ostream& out, std::ostream& err) {
  cli::require_file("FILE", file);
  if (did_docs) cli::require_file("--did-docs", *did_docs);
  const auto bytes = read_whole(file, err);
  if (!bytes) return 1;
  const auto repository = repo::open_repository(*bytes);
  if (!repository) {
    err << fmt::format("{}: {}\n", file.string(), repository.error().message());
    return 1;
  }
  const repo::BlockMap& blocks = repository->car.blocks;
  RecordPrinter printer(blocks, json, out, err);
  const auto walk = repo::walk_mst(
      repository->commit.data, blocks,
      [&](std::string_view path, const atproto::Cid& cid) { printer.print(path, cid); });
  out.flush();
  if (!walk) {
    err << fmt::format("{}: {}\n", file.string(), walk.error().message());
    return 1;
  }
  const auto& commit = repository->commit;
  err << fmt::format("{}, {}, {}, did {}, rev {}, version {}\n",
                     counted(printer.printed(), "record"), counted(blocks.size(), "block"),
                     counted(repository->car.duplicates, "duplicate"), commit.did,
                     commit.rev ? commit.rev->to_string() : "none", commit.version);
  if (walk->missing_nodes + printer.missing() > 0) {
    err << fmt::format("incomplete: without {} and {}\n", counted(walk->missing_nodes, "tree node"),
                       counted(printer.missing(), "record"));
  }
  const bool verified = !did_docs || check_signature(commit, *did_docs, err);
  const bool whole = walk->missing_nodes + printer.missing() + printer.bad() == 0;
  return whole && verified ? 0 : 1;
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

CommandSpecs inspect_repo_commands() {
  return {{"inspect repo",
           "List the records of a CAR file",
           {required(kFile, "A CAR file of getRepo"),
            with_meaning(kJson, "Print a JSON line for each record, with its content"), kDidDocs},
           [](const Invocation& invocation) {
             return inspect_repo(invocation[kFile], invocation[kJson], invocation[kDidDocs],
                                 std::cout, std::cerr);
           }}};
}

}  // namespace skua::cli
