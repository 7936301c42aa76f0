#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "pipeline/metrics.hpp"

namespace skua::app {

/// A part of a process: the steps of its life. A null step is skipped.
struct Part {
  using Deadline = std::chrono::steady_clock::time_point;

  std::function<void()> start = nullptr;

  // The following steps stop a part, in this order.
  /// Stops taking input.
  std::function<void()> close = nullptr;
  /// Waits until all input of the part is durable. Returns false if some is not.
  std::function<bool(Deadline)> drain = nullptr;
  /// Ends the threads of the part. `is_drained` is true if `drain` of all parts has returned true.
  std::function<void(bool is_drained)> end = nullptr;
  /// Saves the position of the part. Returns false if it could not be saved.
  std::function<bool()> save = nullptr;
  /// Replaces `save` if the database is another one.
  std::function<void()> drop = nullptr;

  /// Adds the metrics that all sources of the process share. Any thread.
  std::function<void(pipeline::Metrics&)> add_metrics = nullptr;
};

/// The parts of a process, in the order of their start. Each step of a stop goes through the parts
/// in the reverse order, and begins after the step before has ended for all parts. One thread owns
/// the list and calls its functions, except `add_metrics`.
class PartList {
 public:
  void add(Part part) { parts_.push_back(std::move(part)); }

  void start();
  /// Runs all steps of a stop. Returns false if some input is not durable, or a position is not
  /// saved. The `drain` steps take at most `patience`.
  bool stop(std::chrono::milliseconds patience);
  /// Runs the steps of a stop without waiting, with `drop` instead of `save`.
  void drop();

  /// Any thread.
  void add_metrics(pipeline::Metrics& metrics) const;

 private:
  /// Returns whether everything is durable.
  bool end(std::chrono::milliseconds patience);

  std::vector<Part> parts_;
};

}  // namespace skua::app
