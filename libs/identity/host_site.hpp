#pragma once

#include <string>
#include <string_view>

namespace skua::identity {

/// The site of a host, by its origin (`https://pds.example.com`): the last two labels of its name,
/// which approximate the registrable domain. For an IP address, or a name with one label, the site
/// is the name with its port.
std::string site_of_origin(std::string_view origin);

}  // namespace skua::identity
