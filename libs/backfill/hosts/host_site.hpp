#pragma once

#include <string>
#include <string_view>

namespace skua::backfill {

/// The site of a host, by its origin (`https://pds.example.com`): the last two labels of its name,
/// which approximate the registrable domain. An address, or a name of one label, is a site of its
/// own, with its port.
std::string site_of_origin(std::string_view origin);

}  // namespace skua::backfill
