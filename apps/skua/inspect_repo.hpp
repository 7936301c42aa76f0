#pragma once

#include <filesystem>
#include <iosfwd>

namespace skua::app {

/// `skua inspect repo`: lists the records of a repository's CAR on `out` in key order,
/// `path<TAB>cid` a line, or with `json` one JSON object a line: path, cid, record. Totals, and
/// what is missing of a partial repository, go to `err`. Returns the exit code: 1 if anything was
/// missing or bad.
int inspect_repo(const std::filesystem::path& file, bool json, std::ostream& out,
                 std::ostream& err);

}  // namespace skua::app
