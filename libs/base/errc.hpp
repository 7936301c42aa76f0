#pragma once

#include <boost/system/error_code.hpp>

namespace skua {

/// Errors in the text of a datetime.
enum class errc {
  datetime_form = 1,      // not YYYY-MM-DDTHH:MM:SS[.fraction](Z|+hh:mm|-hh:mm)
  datetime_out_of_range,  // a month, day, hour, minute or second that does not exist
  datetime_zone,          // -00:00, or an offset that does not exist
  datetime_year,          // in UTC before year 0000 or after 9999
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua

template <>
struct boost::system::is_error_code_enum<skua::errc> : std::true_type {};
