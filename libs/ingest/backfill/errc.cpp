#include "backfill/errc.hpp"

#include <array>

#include "base/result.hpp"

namespace skua::backfill {
namespace {

constexpr auto kErrorTexts = std::to_array<ErrorText<errc>>({
    {errc::list_form, "the answer is not the requested list"},
    {errc::list_too_long, "a page of the list has too many entries"},
    {errc::list_empty_pages, "the list has too many empty pages"},
    {errc::host_name, "not a plain host name"},
});

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua.backfill");
  return {static_cast<int>(e), category};
}

}  // namespace skua::backfill
