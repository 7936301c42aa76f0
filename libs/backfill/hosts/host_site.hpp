#pragma once

#include <string>
#include <string_view>

namespace skua::backfill {

/// Who answers for a host, by its origin (`https://pds.example.com`): the last two labels of its
/// name. An address, and a name of one label, answer for themselves, with their port.
std::string site_of_origin(std::string_view origin);

}  // namespace skua::backfill
