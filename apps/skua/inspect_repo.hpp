#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace skua::cli {

/// `skua inspect repo`: lists the records of a repository's CAR on `out` in key order,
/// `path<TAB>cid` a line, or with `json` one JSON object a line: path, cid, record. Totals, and
/// what is missing of a partial repository, go to `err`. Returns the exit code: 1 if anything was
/// missing or bad. With `did_docs`, a file of DID documents, the commit's signature is checked and
/// told of on `err`; one that is not the account's is bad.
int inspect_repo(const std::filesystem::path& file, bool json,
                 const std::optional<std::filesystem::path>& did_docs, std::ostream& out,
                 std::ostream& err);

}  // namespace skua::cli
