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

/// The addresses of labelers in their DID documents, and the times at which the documents must be
/// requested again. It only has entries for the given accounts, so its size is bounded. It does no
/// I/O and has no clock. One thread uses it.
class LabelerDocuments {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Options {
    /// The maximum number of documents that are requested at a time.
    std::size_t at_once = 8;
    /// The time after which a document is requested again.
    std::chrono::milliseconds fresh_for = std::chrono::hours(1);
    /// The first wait after a failure. The wait doubles up to `fresh_for`.
    std::chrono::milliseconds retry_after = std::chrono::seconds(30);
  };

  explicit LabelerDocuments(Options options) : options_(options) {}

  /// Returns the accounts whose documents must be requested now. Each needs a call of `answered`.
  /// Entries of accounts that are not in `dids` are removed.
  std::vector<std::string> due(const std::vector<std::string>& dids, TimePoint now);
  /// Stores an answer. A failure does not change the known address.
  void answered(const std::string& did, const Result<documents::Account>& answer, TimePoint now);

  /// Returns the address in the last document. Returns null if no document has come yet, and an
  /// empty text if the account has no labeler.
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
