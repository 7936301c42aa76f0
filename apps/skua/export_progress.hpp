#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace skua::cli {

/// Shows the progress of an export on stderr: on a terminal as a line that is drawn again,
/// otherwise as a line every ten seconds. With --quiet it shows nothing. Owned by one thread.
class ExportProgress {
 public:
  struct State {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
    /// The complete part, from 0 to 1; nothing if it is not known.
    std::optional<double> part = std::nullopt;
  };

  /// `begun` is the state of the export that continues. Rates count from there.
  ExportProgress(const Clock& clock, State begun, bool can_redraw);
  ~ExportProgress();
  ExportProgress(const ExportProgress&) = delete;
  ExportProgress& operator=(const ExportProgress&) = delete;

  /// Shows the state, if it is time for it.
  void show(const State& state);
  /// Prints the last line.
  void finish(const State& state);

 private:
  double rate(const State& state) const;
  void erase();

  const Clock& clock_;
  const State begun_;
  const Timestamp started_;
  const bool is_redrawn_;
  Timestamp shown_;
  bool is_drawn_ = false;
};

}  // namespace skua::cli
