#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace skua {

/// The result of a function whose failure depends on its input: a value, or an error code with a
/// readable `message()`. A failure of the infrastructure (database, memory) is an exception
/// instead. Each library has one `errc` with its own category.
template <class T>
using Result = boost::system::result<T>;

using ErrorCode = boost::system::error_code;

}  // namespace skua
