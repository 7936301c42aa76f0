#pragma once

#include <string>
#include <string_view>

namespace skua::identity {

/// The site of a host, by its origin (`https://pds.example.com`): the last two labels of its name,
/// which approximate the registrable domain. For an IP address, or a name with one label, the site
/// is the name with its port.
std::string site_of_origin(std::string_view origin);

/// The site of a host name. A name of a public suffix with two labels (co.uk) counts as one site:
/// that costs its hosts some of their share, and nobody else.
std::string site_of_host(std::string_view host);

/// The site of the host of a did:web. The owner of `example.com` can name any number of hosts below
/// it.
std::string site_of(std::string_view did);

}  // namespace skua::identity
