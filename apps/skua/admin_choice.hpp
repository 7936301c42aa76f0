#pragma once

#include <string>

#include "admin/admin_api.hpp"
#include "invocation.hpp"

namespace skua::cli {

/// The admin API of `skua run` and `skua serve`, with the token of the setting. Without the setting
/// it refuses all requests. An error that ends its thread is logged, and the process continues.
/// Throws UsageError for a file that cannot give the token.
admin::AdminApi::Options admin_options(const Invocation& invocation,
                                       const std::string& database_url);

/// Warns if clients would send the token over a network without TLS. `address`: of the server.
void warn_of_plain_token(const admin::AdminApi& api, const std::string& address);

}  // namespace skua::cli
