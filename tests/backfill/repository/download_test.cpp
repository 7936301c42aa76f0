#include "backfill/repository/download.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "documents/errc.hpp"
#include "transport/errc.hpp"

namespace skua::backfill::download_test {
namespace {

using namespace std::chrono_literals;
using transport::HttpAnswer;

const Timestamp kNow{std::chrono::seconds(1'780'000'000)};
const std::string kHost = "https://pds.test";

HttpAnswer answer_of(unsigned status, std::string body = {}) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

template <class End>
End end_of(const Result<HttpAnswer>& answer) {
  return std::get<End>(end_without_car(kHost, answer, kNow).value());
}

TEST(Download, a_car_does_not_end_the_job) {
  HttpAnswer car = answer_of(200, "bytes");
  car.content_type = "application/vnd.ipld.car";
  EXPECT_EQ(end_without_car(kHost, car, kNow), std::nullopt);
}

TEST(Download, a_request_that_a_stop_ended_is_no_failure) {
  end_of<JobStopped>(make_error_code(transport::errc::http_stopped));
  EXPECT_TRUE(is_stop(documents::errc::stopped));
  EXPECT_FALSE(is_stop(transport::errc::http_timed_out));
}

TEST(Download, a_full_disk_postpones_the_job) {
  const auto end = end_of<JobPostponed>(make_error_code(transport::errc::http_no_room));
  EXPECT_EQ(end.wait, 60s);
  EXPECT_EQ(end.reason.find(kHost + ": "), 0U) << end.reason;
}

TEST(Download, a_host_that_limits_requests_postpones_the_job) {
  HttpAnswer limited = answer_of(429);
  EXPECT_EQ(end_of<JobPostponed>(limited).wait, 5s);
  limited.retry_after = "90";
  const auto end = end_of<JobPostponed>(limited);
  EXPECT_EQ(end.wait, 90s);
  EXPECT_EQ(end.reason, kHost + ": the host asked us to wait (429)");
}

TEST(Download, a_refusal_makes_the_job_unavailable) {
  const auto end = end_of<JobUnavailable>(answer_of(400, R"({"error":"RepoTakendown"})"));
  EXPECT_EQ(end.reason, "RepoTakendown: the host has taken the repository down");
  EXPECT_FALSE(end.is_gone);
  EXPECT_TRUE(end_of<JobUnavailable>(answer_of(400, R"({"error":"RepoNotFound"})")).is_gone);
}

TEST(Download, any_other_answer_fails_the_job_which_is_tried_again) {
  HttpAnswer broken = answer_of(503);
  broken.retry_after = "30";
  const auto end = end_of<JobFailed>(broken);
  EXPECT_EQ(end.reason, kHost + ": the host answered 503");
  EXPECT_EQ(end.wait, 30s);
  EXPECT_FALSE(end.is_final);
  EXPECT_EQ(end_of<JobFailed>(make_error_code(transport::errc::http_timed_out)).wait, 0s);
}

TEST(Download, an_answer_is_held_as_long_as_the_repository) {
  Count memory;
  SpoolBudget disk(0);
  {
    FetchedRepository fetched;
    auto held = std::make_shared<HeldCar>(memory, disk, kHost, std::size_t{1} << 20);
    ASSERT_TRUE(held->add(5));
    keep_answer(fetched, answer_of(200, "bytes"), held);
    held.reset();
    EXPECT_EQ(std::string(fetched.car.begin(), fetched.car.end()), "bytes");
    EXPECT_EQ(fetched.mapped, nullptr);
    EXPECT_EQ(memory, 5U);
  }
  EXPECT_EQ(memory, 0U);
}

TEST(Download, a_file_that_cannot_be_read_is_named) {
  Count memory;
  SpoolBudget disk(0);
  const auto held = std::make_shared<HeldCar>(memory, disk, "", std::size_t{1} << 20);
  FetchedRepository fetched;
  fetched.job.file = "/nowhere/alice.car";
  EXPECT_EQ(map_car_file(fetched, held),
            "/nowhere/alice.car cannot be read: No such file or directory");
  fetched.job.file = "/dev/null";
  EXPECT_EQ(map_car_file(fetched, held), "/dev/null cannot be read: it is empty");
  EXPECT_EQ(fetched.bytes, nullptr);
}

}  // namespace
}  // namespace skua::backfill::download_test
