#pragma once

#include <boost/system/error_code.hpp>

namespace skua::backfill {

/// Errors of a list of accounts or hosts.
enum class errc {
  /// The answer is not a JSON object with the requested list.
  list_form = 1,
  /// One page has more entries than any genuine page.
  list_too_long,
  /// Too many empty pages follow each other.
  list_empty_pages,
  /// The name of a host is not a plain name.
  host_name,
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::backfill

template <>
struct boost::system::is_error_code_enum<skua::backfill::errc> : std::true_type {};
