#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http_client.hpp"

namespace skua::documents {

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

/// What an account's own host says of it (com.atproto.sync.getRepoStatus).
struct HostStatus {
  /// False: the account is hidden (atproto::hides).
  bool active = false;
  /// Why it is not: deactivated, takendown, suspended, deleted...; empty when the host does not
  /// say.
  std::string status;
};

/// The request to the host `pds`, an origin such as https://pds.example.
transport::HttpRequest host_status_request(const std::string& pds, std::string_view did);

/// Reads an answer of getRepoStatus about `did`. A host that knows no such repository says that it
/// was deleted. Errors: those of transport, server_failed, rate_limited, document_json,
/// document_of_other, unforeseen.
Result<HostStatus> read_host_status(const Result<transport::HttpAnswer>& answer,
                                    std::string_view did);

}  // namespace skua::documents
