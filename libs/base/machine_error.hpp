#pragma once

#include <exception>
#include <new>
#include <system_error>

namespace skua {

/// Whether an exception comes from the machine (memory, threads, files) and not from the input that
/// is being read. The input must not be dropped for such an exception: the machine would fail again
/// with the next one.
inline bool is_of_machine(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::system_error*>(&error) != nullptr;
}

}  // namespace skua
