#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "documents/did_document.hpp"

namespace skua::documents {

/// DID documents from a file, for checking captures and repositories without a network. The file
/// has one document, a JSON array of documents, or an object of documents by DID, plain or
/// compressed by zstd. All documents are in memory; the limit is 2 GiB. Immutable; any number of
/// threads.
class DocumentFile {
 public:
  /// Throws std::runtime_error with advice for the user if the file cannot be read or has another
  /// form. A document that cannot be used is left out and described in `problem`.
  static DocumentFile read(const std::filesystem::path& file);

  /// Returns null if the file has no usable document of this account.
  const Account* find(std::string_view did) const;

  std::size_t size() const { return accounts_.size(); }
  /// Returns the number of documents that were left out and the reason of the first. Empty if none
  /// was.
  const std::string& problem() const { return problem_; }

 private:
  std::map<std::string, Account, std::less<>> accounts_;
  std::string problem_;
};

}  // namespace skua::documents
