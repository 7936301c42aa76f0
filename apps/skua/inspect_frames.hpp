#pragma once

#include <filesystem>
#include <iosfwd>

namespace skua::app {

/// `skua inspect frames`: prints each op, account and identity event of a capture as a JSON line in
/// Jetstream v1's shape on `out`, ops as they stand in their commit. What is bad (a frame, an op, a
/// torn tail) is told on `err` and does not stop it; so are totals at the end. Returns the exit
/// code: 1 if anything was bad.
int inspect_frames(const std::filesystem::path& file, std::ostream& out, std::ostream& err);

}  // namespace skua::app
