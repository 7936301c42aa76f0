#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http_server/exchange.hpp"
#include "http_server/server.hpp"
#include "postgres/session.hpp"
#include "xrpc/read_requests.hpp"

namespace skua::xrpc {

/// The numbers of the record keys that have the form of a TID and stand before or after a key, as a
/// range that includes both ends; `last` before `first` is the empty range. Timestamp identifiers
/// have the order of their numbers.
struct TidRange {
  std::int64_t first = 0;
  std::int64_t last = -1;
};
/// Returns the range of the TIDs whose text stands before `key` in the order of bytes, or after it.
/// Without a key, the range of all.
TidRange tids_beside(const std::optional<std::string>& key, bool after);

// Each function answers one method of com.atproto.repo (atproto.com/specs/xrpc), as the reference
// implementation of a PDS does. `value` of a record is its JSON with the entries in the order of
// the block, without white space. An account that is hidden has the errors RepoDeactivated,
// RepoTakendown or RepoSuspended. The functions throw postgres::SqlError.

http_server::Response get_record(postgres::Session& session, const http_server::Request& request,
                                 ReadMetrics& metrics);
http_server::Response list_records(postgres::Session& session, const http_server::Request& request,
                                   ReadMetrics& metrics);
http_server::Response describe_repo(postgres::Session& session,
                                    const http_server::Request& request);

/// Adds the methods below `/xrpc/`; any other method has the answer 501. `requests` and `metrics`
/// must outlive the server.
void add_record_methods(http_server::Server::Routes& routes, ReadRequests& requests,
                        ReadMetrics& metrics);

}  // namespace skua::xrpc
