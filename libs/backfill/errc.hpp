#pragma once

#include <boost/system/error_code.hpp>

namespace skua::backfill {

/// What can be wrong with a list of accounts or hosts that somebody serves.
enum class errc {
  /// No JSON object with the list that was asked for.
  list_form = 1,
  /// One page holds more entries than any that is meant.
  list_too_long,
  /// The cursor leads back to where the list has been: it would never end.
  list_turns_in_circles,
  /// Page after page without a single entry.
  list_empty_pages,
  /// A host that is no plain name.
  host_name,
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::backfill

template <>
struct boost::system::is_error_code_enum<skua::backfill::errc> : std::true_type {};
