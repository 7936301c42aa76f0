#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "pipeline/metrics.hpp"

namespace skua::app {

/// A part of a process: the steps of its life. A part leaves out the steps that it does not have.
struct Part {
  using Deadline = std::chrono::steady_clock::time_point;

  std::function<void()> start = nullptr;

  // The steps of a stop, in this order.
  /// Takes nothing more from outside.
  std::function<void()> close = nullptr;
  /// Waits until all that it has taken is durable. False: something is not.
  std::function<bool(Deadline)> drain = nullptr;
  /// Ends its threads. `is_drained`: `drain` of all parts has returned true.
  std::function<void(bool is_drained)> end = nullptr;
  /// Saves its position. False: it is not saved.
  std::function<bool()> save = nullptr;
  /// Instead of `save`: the database is another one.
  std::function<void()> drop = nullptr;

  /// Adds the metrics that all sources of the process share. Any thread.
  std::function<void(pipeline::Metrics&)> add_metrics = nullptr;
};

/// The parts of a process, in the order of their start. Each step of a stop goes through the parts
/// in the reverse order, and begins when the step before it has ended for all parts. Owned and
/// called by one thread, except `add_metrics`.
class PartList {
 public:
  void add(Part part) { parts_.push_back(std::move(part)); }

  void start();
  /// All steps of a stop. False: something is not durable, or a position is not saved. `patience`:
  /// how long `drain` takes at most.
  bool stop(std::chrono::milliseconds patience);
  /// The same without waiting and without saving.
  void drop();

  /// Any thread.
  void add_metrics(pipeline::Metrics& metrics) const;

 private:
  /// Returns whether everything is durable.
  bool end(std::chrono::milliseconds patience);

  std::vector<Part> parts_;
};

}  // namespace skua::app
