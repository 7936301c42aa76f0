#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace skua::cli {

/// `skua inspect repo`: lists the records of a repository's CAR on `out` in key order, as lines
/// `path<TAB>cid`, or with `json` as lines with one JSON object: path, cid, record. Totals, and the
/// missing parts of a partial repository, go to `err`. Returns the exit code: 1 if anything was
/// missing or invalid. With `did_docs`, a file of DID documents, it checks the commit's signature
/// and reports on `err`; a signature with another key counts as invalid.
int inspect_repo(const std::filesystem::path& file, bool json,
                 const std::optional<std::filesystem::path>& did_docs, std::ostream& out,
                 std::ostream& err);

}  // namespace skua::cli
