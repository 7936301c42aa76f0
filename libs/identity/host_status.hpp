#pragma once

#include <functional>
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

/// Reads an answer of getRepoStatus about `did`. A host that knows no such repository says that it
/// was deleted. Errors: server_failed, rate_limited, document_json, document_of_other.
Result<HostStatus> read_host_status(const transport::HttpAnswer& answer, std::string_view did);

/// Asks the host `pds`, an origin such as https://pds.example. `done` is called once, on the HTTP
/// client's thread. Errors: as above, or transport's.
void ask_host_status(transport::HttpClient& http, const std::string& pds, const std::string& did,
                     std::function<void(Result<HostStatus>)> done);

}  // namespace skua::identity
