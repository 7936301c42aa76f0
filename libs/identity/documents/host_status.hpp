#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http_client.hpp"

namespace skua::documents {

/// Returns the site of a host from its origin (`https://pds.example.com`): the last two labels of
/// its name, which approximate the registrable domain. For an IP address, or a name with one label,
/// the site is the name with its port.
std::string site_of_origin(std::string_view origin);

/// Returns the site of a host name. All names below a public suffix with two labels (co.uk) count
/// as one site. This costs these hosts a part of their share, and affects no other hosts.
std::string site_of_host(std::string_view host);

/// Returns the site of the host of a did:web. The owner of `example.com` can name any number of
/// hosts below this name, so they count as one site.
std::string site_of(std::string_view did);

/// The hosting status that an account's own host states (com.atproto.sync.getRepoStatus).
struct HostStatus {
  /// False if the account is hidden (atproto::hides).
  bool active = false;
  /// The reason why the account is not active: deactivated, takendown, suspended, deleted... Empty
  /// if the host does not state it.
  std::string status;
};

/// Returns the request to the host `pds`, an origin such as https://pds.example.
transport::HttpRequest host_status_request(const std::string& pds, std::string_view did);

/// Reads an answer of getRepoStatus about `did`. The answer of a host that does not know the
/// repository means that the account was deleted. Errors: those of transport, server_failed,
/// rate_limited, document_json, document_of_other, unforeseen.
Result<HostStatus> read_host_status(const Result<transport::HttpAnswer>& answer,
                                    std::string_view did);

}  // namespace skua::documents
