#pragma once

#include <string>

#include "random.hpp"

namespace skua::sim {

/// The first part of a handle: `quiet-heron42`. Lower-case letters, digits, and hyphens within.
std::string random_name(Random& random);

/// A lower-case English word.
std::string random_word(Random& random);

/// The value of a label.
std::string random_label(Random& random);

/// The domain of a fictional site: `quietheron.example`.
std::string random_domain(Random& random);

/// A web address of such a site.
std::string random_link(Random& random);

}  // namespace skua::sim
