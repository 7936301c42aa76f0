#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "event/frame_decoder.hpp"
#include "identity/document_file.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// Verifies the messages of a capture one after another, with the keys of a file of DID documents
/// and the capture's own times as clock, and counts what came of it. One thread.
class CommitJudge {
 public:
  /// Throws std::runtime_error when the file cannot be used.
  explicit CommitJudge(const std::filesystem::path& did_docs)
      : documents_(identity::DocumentFile::read(did_docs)) {}

  struct Judgement {
    /// Why it is not believed, or no news; empty: it is verified. Static text.
    std::string_view reason;
    bool is_refused = false;
  };

  /// Judges a #commit or #sync that `decoder` decoded last. Of an #account it takes the status.
  Judgement judge(const event::FrameDecoder& decoder, const event::DecodedFrame& frame);

  /// How many commits came to each end; the empty reason stands for those that were verified.
  const std::map<std::string_view, std::uint64_t>& totals() const { return totals_; }
  /// Verified, but something before them is missing from the capture.
  std::uint64_t broken() const { return broken_; }
  const std::string& problem() const { return documents_.problem(); }

 private:
  Judgement check(const event::FrameDecoder& decoder, const event::DecodedFrame& frame);

  identity::DocumentFile documents_;
  verify::CommitVerifier verifier_{verify::Level::Full};
  std::map<std::string, verify::RepositoryState, std::less<>> repositories_;
  std::map<std::string_view, std::uint64_t> totals_;
  std::uint64_t broken_ = 0;
};

}  // namespace skua::cli
