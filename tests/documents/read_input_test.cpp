#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "base/result.hpp"
#include "documents/errc.hpp"
#include "documents/plc_export.hpp"

namespace skua::documents::read_input_test {
namespace {

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

}  // namespace
}  // namespace skua::documents::read_input_test
