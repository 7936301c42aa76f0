#include "backfill/repository/job_task.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "backfill/repository/job_runner.hpp"

namespace skua::backfill::job_task_test {
namespace {

using Awaiter = CallbackAwaiter<std::string>;

/// Longer than a string holds without an allocation: freeing it twice would be noticed.
const std::string kText = "the host has taken the repository down ";

class JobTaskTest : public testing::Test {
 protected:
  void start(JobTask task) {
    std::move(task).start({.on_end = [this](JobEnd end) { ends_.push_back(std::move(end)); },
                           .on_fatal = [this](const std::string& what) { fatal_ = what; }});
  }
  std::string reason() const {
    return ends_.empty() ? "none" : std::get<JobUnavailable>(ends_.back()).reason;
  }

  /// Ends with the text that it is called back with. `car` stands for its variables.
  JobTask wait(std::shared_ptr<int> car) {
    Awaiter answer(tasks_, [this](Awaiter::Done done) { done_ = std::move(done); });
    std::string text = co_await answer;
    if (text == "throw") throw std::runtime_error("no memory");
    co_return JobUnavailable{text + std::to_string(*car)};
  }

  int posted_ = 0;
  TaskQueue tasks_{[this] { ++posted_; }};
  Awaiter::Done done_;
  std::vector<JobEnd> ends_;
  std::string fatal_;
  const std::shared_ptr<int> car_ = std::make_shared<int>(7);
};

TEST_F(JobTaskTest, a_result_is_received_on_the_thread_of_the_queue) {
  start(wait(car_));
  EXPECT_EQ(car_.use_count(), 2);
  std::jthread([&] { done_(kText); }).join();
  EXPECT_EQ(posted_, 1);
  EXPECT_EQ(reason(), "none") << "nothing runs until the queue does";
  tasks_.run();
  EXPECT_EQ(reason(), kText + "7");
  EXPECT_EQ(ends_.size(), 1U);
  EXPECT_EQ(car_.use_count(), 1) << "the variables of a job that has ended are destroyed";
}

TEST_F(JobTaskTest, an_operation_may_call_back_before_it_returns) {
  const auto job = [this]() -> JobTask {
    Awaiter answer(tasks_, [](const Awaiter::Done& done) { done("at once"); });
    std::string text = co_await answer;
    co_return JobUnavailable{std::move(text)};
  };
  start(job());
  EXPECT_EQ(reason(), "none");
  tasks_.run();
  EXPECT_EQ(reason(), "at once");
}

TEST_F(JobTaskTest, its_variables_are_destroyed_before_its_end_is_reported) {
  long count = 0;
  JobTask task = wait(car_);
  std::move(task).start({.on_end = [&](const JobEnd&) { count = car_.use_count(); }});
  done_("");
  tasks_.run();
  EXPECT_EQ(count, 1);
}

TEST_F(JobTaskTest, an_exception_is_a_fatal_error) {
  start(wait(car_));
  done_("throw");
  tasks_.run();
  EXPECT_EQ(fatal_, "no memory");
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(car_.use_count(), 1);
}

TEST_F(JobTaskTest, a_job_whose_callback_is_dropped_is_destroyed) {
  start(wait(car_));
  done_ = nullptr;
  EXPECT_EQ(car_.use_count(), 1);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(JobTaskTest, a_job_that_was_not_resumed_is_destroyed_with_the_queue) {
  {
    TaskQueue tasks([] {});
    const auto job = [](TaskQueue& queue, std::shared_ptr<int> car) -> JobTask {
      Awaiter answer(queue, [](const Awaiter::Done& done) { done("posted"); });
      std::string text = co_await answer;
      co_return JobUnavailable{text + std::to_string(*car)};
    };
    start(job(tasks, car_));
    EXPECT_EQ(car_.use_count(), 2);
  }
  EXPECT_EQ(car_.use_count(), 1);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(JobTaskTest, a_job_that_never_started_is_destroyed) {
  { const JobTask task = wait(car_); }
  EXPECT_EQ(car_.use_count(), 1);
}

class ReaderThreadsTest : public JobTaskTest {
 protected:
  /// Continues on a reader thread, then on the thread of the queue.
  JobTask read(ReaderThreads& readers, std::shared_ptr<int> car) {
    ReaderThreads::Entry reader = readers.enter();
    co_await reader;
    reader_ = std::this_thread::get_id();
    TaskQueueEntry queue(tasks_);
    co_await queue;
    after_ = std::this_thread::get_id();
    co_return JobUnavailable{kText + std::to_string(*car)};
  }

  std::thread::id reader_;
  std::thread::id after_;
};

TEST_F(ReaderThreadsTest, a_job_continues_on_a_reader_thread_until_it_returns_to_the_queue) {
  ReaderThreads readers(1);
  start(read(readers, car_));
  while (reason() == "none") {
    tasks_.run();
    std::this_thread::yield();
  }
  EXPECT_EQ(reason(), kText + "7");
  EXPECT_NE(reader_, std::this_thread::get_id());
  EXPECT_EQ(after_, std::this_thread::get_id());
}

TEST_F(ReaderThreadsTest, jobs_that_wait_for_a_thread_are_destroyed_at_the_end) {
  {
    ReaderThreads none(0);
    start(read(none, car_));
    EXPECT_EQ(none.queued(), 1U);
    none.stop();
    EXPECT_TRUE(none.stop_token().stop_requested());
    EXPECT_EQ(car_.use_count(), 2);
    start(read(none, car_));
    EXPECT_EQ(car_.use_count(), 2) << "after a stop nothing is queued";
  }
  EXPECT_EQ(car_.use_count(), 1);
  EXPECT_TRUE(ends_.empty());
}

}  // namespace
}  // namespace skua::backfill::job_task_test
