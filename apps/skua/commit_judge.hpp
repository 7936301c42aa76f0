#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "accounts/account_source.hpp"
#include "event/frame_decoder.hpp"
#include "ingest/commit_processor.hpp"

namespace skua::cli {

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
  Judgement judge(event::DecodedFrame& message);

  /// The number of commits by reason; the empty reason: verified.
  const std::map<std::string_view, std::uint64_t>& totals() const { return totals_; }
  /// Verified, but the capture lacks an earlier message of the repository.
  std::uint64_t broken() const { return broken_; }
  const std::string& problem() const { return accounts_.problem(); }

 private:
  ingest::CommitProcessor::Outcome process(event::DecodedFrame& message);

  accounts::DocumentAccounts accounts_;
  ingest::CommitProcessor processor_{{.has_hosts = false}};
  std::map<std::string_view, std::uint64_t> totals_;
  std::uint64_t broken_ = 0;
};

}  // namespace skua::cli
