#include "identity/read_input.hpp"

#include <atomic>
#include <functional>
#include <future>
#include <new>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.hpp"
#include "identity/identity_cache.hpp"
#include "identity/plc_server.hpp"
#include "support/manual_clock.hpp"

namespace skua::identity::read_input_test {
namespace {

using testing::HasSubstr;

const std::string kDid = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";

Result<int> read(const std::function<Result<int>()>& work) {
  return read_input<Result<int>>(kDid, work);
}

TEST(ReadInput, an_exception_of_the_answer_is_its_error_and_the_machines_passes) {
  EXPECT_EQ(read([] { return Result<int>(7); }).value(), 7);
  EXPECT_EQ(read([] { return Result<int>(errc::document_json); }).error(), errc::document_json);
  EXPECT_EQ(read([]() -> Result<int> { throw std::logic_error("odd"); }).error(), errc::unforeseen);
  EXPECT_THROW(read([]() -> Result<int> { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_FALSE(is_server_failure(make_error_code(errc::unforeseen)))
      << "asking again gives the same";
}

/// Fails from the moment it is told to.
class BrokenClock final : public Clock {
 public:
  Timestamp now() const override {
    if (is_broken_) throw std::logic_error("the clock is broken");
    return clock_.now();
  }
  void is_broken_now() { is_broken_ = true; }

 private:
  test::ManualClock clock_;
  std::atomic<bool> is_broken_{false};
};

TEST(IdentityCacheDefect, is_reported_once_and_nobody_waits_for_a_thread_that_is_gone) {
  test::PlcServer plc;
  transport::HttpClient http({});
  DidResolverOptions resolver_options;
  resolver_options.plc_url = plc.url();
  const DidResolver resolver(http, resolver_options);
  BrokenClock clock;
  std::promise<std::string> defect;
  IdentityCacheOptions options;
  options.on_defect = [&](const std::string& what) { defect.set_value(what); };
  IdentityCache cache(resolver, options, clock);
  clock.is_broken_now();
  cache.resolve(kDid, [](const auto&) {});
  EXPECT_THAT(defect.get_future().get(), HasSubstr("the clock is broken"));
  std::promise<ErrorCode> refused;
  cache.resolve(kDid, [&](const auto& answer) { refused.set_value(answer.error()); });
  EXPECT_EQ(refused.get_future().get(), errc::stopped);
  http.stop();
}

}  // namespace
}  // namespace skua::identity::read_input_test
