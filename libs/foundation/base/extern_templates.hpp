#pragma once

#include <fmt/format.h>

#ifndef FMT_HEADER_ONLY
// libfmt contains this function, but its header does not declare it as extern. Without this
// declaration every object file compiles fmt's formatting code again.
namespace fmt::detail {
extern template void vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                      basic_format_args<buffer_context<char>>, locale_ref);
}  // namespace fmt::detail
#endif
