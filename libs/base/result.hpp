#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace skua {

/// What a function returns whose failure depends on its input: a value, or an error code whose
/// `message()` is plain words. A failure of the infrastructure (database, memory) throws instead.
/// Each library has one `errc` with a category of its own.
template <class T>
using Result = boost::system::result<T>;

using ErrorCode = boost::system::error_code;

}  // namespace skua
