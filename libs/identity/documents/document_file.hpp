#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "documents/did_document.hpp"

namespace skua::documents {

/// DID documents from a file, for checking captures and repositories without a network: one
/// document, a JSON array of documents, or an object of documents by DID; plain or compressed by
/// zstd. All of it is in memory, 2 GiB at most. Immutable; any number of threads.
class DocumentFile {
 public:
  /// Throws std::runtime_error, with what to do, when the file cannot be read or is no such file.
  /// A document that cannot be used is left out and told of in `problem`.
  static DocumentFile read(const std::filesystem::path& file);

  /// Null: no usable document of this account.
  const Account* find(std::string_view did) const;

  std::size_t size() const { return accounts_.size(); }
  /// How many documents were left out, and why the first was; empty: none.
  const std::string& problem() const { return problem_; }

 private:
  std::map<std::string, Account, std::less<>> accounts_;
  std::string problem_;
};

}  // namespace skua::documents
