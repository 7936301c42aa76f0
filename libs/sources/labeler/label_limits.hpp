#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>

namespace skua::sources {

/// The limits of a labeler that was discovered: anybody can publish one.
struct LabelLimits {
  /// Whether the labeler may send labels of this account (`src`). Others are dropped and counted,
  /// before a key is asked for. Any thread.
  std::function<bool(std::string_view src)> speaks_for;
  /// How many labels are taken in a second; more wait at the labeler.
  double per_second = 500;
};

/// What a message costs of the rate, in labels. Most labels have half as many bytes. The URI of a
/// label may be much longer, so that the bytes count, too.
inline std::size_t cost_of(std::size_t labels, std::size_t bytes) {
  constexpr std::size_t kBytesOfLabel = 512;
  // A message without labels also costs something.
  return std::max({labels, bytes / kBytesOfLabel, std::size_t{1}});
}

/// When the next message may be taken, so that a labeler keeps to its rate. After a pause, the
/// labels of one second are taken at once. No clock of its own; one thread.
class LabelPace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit LabelPace(double per_second) : per_second_(per_second) {}

  /// A message that costs so many labels was taken. Returns when the next one may be.
  TimePoint took(std::size_t labels, TimePoint now) {
    const std::chrono::duration<double> cost(static_cast<double>(labels) / per_second_);
    paid_until_ = std::max(paid_until_, now - std::chrono::seconds(1)) +
                  std::chrono::duration_cast<TimePoint::duration>(cost);
    return std::max(paid_until_, now);
  }

 private:
  const double per_second_;
  /// The labels that were taken use the rate up to this time.
  TimePoint paid_until_{};
};

}  // namespace skua::sources
