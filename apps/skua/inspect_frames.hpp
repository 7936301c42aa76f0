#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace skua::cli {

/// `skua inspect frames`: prints each op, account and identity event of a capture to `out` as a
/// JSON line in the format of Jetstream v1; ops in the order of their commit. Invalid input (a
/// frame, an op, a truncated end) is reported on `err`, and reading continues; totals follow at the
/// end. Returns the exit code: 1 if anything was invalid.
///
/// With `did_docs`, a file of DID documents, each line of a commit says `"verified":true`, or
/// `false` with the reason. The totals are by reason, and a rejected commit counts as invalid. An
/// outdated commit (an inactive account, a revision that occurred before) does not.
int inspect_frames(const std::filesystem::path& file,
                   const std::optional<std::filesystem::path>& did_docs, std::ostream& out,
                   std::ostream& err);

}  // namespace skua::cli
