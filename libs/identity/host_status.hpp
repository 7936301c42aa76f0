#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http_client.hpp"

namespace skua::identity {

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

}  // namespace skua::identity
