#include "base/result.hpp"

#include <array>

namespace skua {

namespace {

constexpr auto kErrorTexts = std::to_array<ErrorText<errc>>({
    {errc::datetime_form,
     "not a datetime: wanted is 2026-07-04T14:38:08.085Z, with seconds and a zone"},
    {errc::datetime_out_of_range, "not a datetime: there is no such day or time of day"},
    {errc::datetime_zone, "not a datetime: there is no such zone (-00:00 is not allowed)"},
    {errc::datetime_year, "not a datetime: in UTC its year is before 0000 or after 9999"},
});

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua");
  return {static_cast<int>(e), category};
}

}  // namespace skua
