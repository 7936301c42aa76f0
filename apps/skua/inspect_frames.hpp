#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace skua::cli {

/// `skua inspect frames`: prints each op, account and identity event of a capture as a JSON line in
/// Jetstream v1's shape on `out`, ops as they stand in their commit. What is bad (a frame, an op, a
/// torn tail) is told on `err` and does not stop it; so are totals at the end. Returns the exit
/// code: 1 if anything was bad.
///
/// With `did_docs`, a file of DID documents, each line of a commit says `"verified":true`, or
/// `false` with the reason; the totals are by reason, and a commit that is refused is bad. One that
/// is no news (an account that is not active, a revision that was met before) is not.
int inspect_frames(const std::filesystem::path& file,
                   const std::optional<std::filesystem::path>& did_docs, std::ostream& out,
                   std::ostream& err);

}  // namespace skua::cli
