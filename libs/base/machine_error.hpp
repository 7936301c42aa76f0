#pragma once

#include <exception>
#include <new>
#include <system_error>

namespace skua {

/// Whether an exception is the machine's doing (memory, threads, files): it says nothing of the
/// input at hand, and whoever blamed that would go on with a machine that fails. All others, while
/// an input is read and nothing was handed on, are the input's: it goes, and the stream goes on.
inline bool is_of_machine(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::system_error*>(&error) != nullptr;
}

}  // namespace skua
