#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/guarded.hpp"

namespace skua::backfill {

/// Tasks that any thread posts and one thread runs, in order.
class TaskQueue {
 public:
  using Task = std::function<void()>;

  /// `on_posted`: called on the thread that posts; tells the other thread to call `run`.
  explicit TaskQueue(std::function<void()> on_posted) : on_posted_(std::move(on_posted)) {}

  void post(Task task) {
    tasks_.with([&](auto& tasks) { tasks.push_back(std::move(task)); });
    on_posted_();
  }

  /// Runs all tasks that have been posted. They may post others, which wait for the next call.
  void run() {
    std::vector<Task> tasks;
    tasks_.with([&](auto& posted) { tasks.swap(posted); });
    for (Task& task : tasks) task();
  }

 private:
  const std::function<void()> on_posted_;
  Guarded<std::vector<Task>> tasks_;
};

}  // namespace skua::backfill
