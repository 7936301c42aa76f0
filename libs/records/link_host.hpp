#pragma once

#include <string>
#include <string_view>

namespace skua::records {

/// The host of an http or https URL, without user, password and port, in lower case (A to Z only;
/// other letters stay). Empty: the URI has another scheme or no host, or the host is longer than
/// 253 bytes. The function `bsky.link_host` of the database does the same.
std::string link_host(std::string_view uri);

}  // namespace skua::records
