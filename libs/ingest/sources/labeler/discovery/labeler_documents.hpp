#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "base/seeded_hash.hpp"
#include "documents/did_document.hpp"

namespace skua::sources {

/// What the DID documents of labelers say about their addresses, and when each is asked for again.
/// Of the given accounts only, so that it is bounded. No I/O and no clock of its own; one thread.
class LabelerDocuments {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Options {
    /// Documents that are asked for at a time.
    std::size_t at_once = 8;
    /// A document is asked for again after this time.
    std::chrono::milliseconds fresh_for = std::chrono::hours(1);
    /// After a failure it is asked for sooner: the first wait, which doubles up to `fresh_for`.
    std::chrono::milliseconds retry_after = std::chrono::seconds(30);
  };

  explicit LabelerDocuments(Options options) : options_(options) {}

  /// The accounts whose documents are to be asked for now. Each needs a call of `answered`.
  /// Accounts that are not among `dids` are forgotten.
  std::vector<std::string> due(const std::vector<std::string>& dids, TimePoint now);
  /// A failure does not change what is known.
  void answered(const std::string& did, const Result<documents::Account>& answer, TimePoint now);

  /// What the last document said. Null: there was none yet. Empty: the account has no labeler.
  const std::string* origin_of(const std::string& did) const;
  /// Whether an answer is missing.
  bool is_waiting() const { return asked_ > 0; }

 private:
  struct Entry {
    bool is_asked = false;
    bool is_known = false;
    std::string origin;
    TimePoint ask_at{};
    std::chrono::milliseconds wait{0};
  };

  const Options options_;
  std::unordered_map<std::string, Entry, SeededHash> entries_;
  std::size_t asked_ = 0;
};

}  // namespace skua::sources
