#pragma once

#include <string>

namespace skua {

/// A number of bytes for people: `12 kB`, `3.4 MB`, `5.6 GB`; decimal units.
std::string size_text(double bytes);

}  // namespace skua
