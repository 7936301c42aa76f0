#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "http_server/exchange.hpp"
#include "postgres/session.hpp"

namespace skua::admin {

/// A request that cannot be carried out: the answer to the client.
class Refusal : public std::runtime_error {
 public:
  Refusal(unsigned status, const char* error, const std::string& message)
      : std::runtime_error(message), status_(status), error_(error) {}
  http_server::Response response() const {
    return http_server::error_response(status_, error_, what());
  }

 private:
  unsigned status_;
  const char* error_;
};

/// What an action applies to: the one member of the JSON body.
enum class Parameter : std::uint8_t {
  /// `name`: of a consumer.
  Name,
  /// `ids`: of dead letters.
  Ids,
  /// `did`: of an account.
  Did,
};

/// `name`, `ids`, `did`.
std::string_view to_string(Parameter parameter);

/// The most letters of a request.
inline constexpr std::size_t kMostIds = 100;
/// The longest name of a consumer, in bytes.
inline constexpr std::size_t kLongestName = 200;

/// The checked body of a request. Only the member of the action is set.
struct Arguments {
  std::string name = {};
  /// Sorted, without duplicates.
  std::vector<std::int64_t> ids = {};
  std::string did = {};
};

/// Throws Refusal (400) for a body that is not exactly this parameter with a valid value.
Arguments parse_arguments(Parameter parameter, const std::string& body);

/// One line for the log.
std::string text_of(Parameter parameter, const Arguments& arguments);

/// An action of an operator: the same as a command. Declared once, in `actions`; the routes and
/// `/admin/check` are derived from it.
struct Action {
  const char* path;
  Parameter parameter;
  /// The command that does the same.
  const char* command;
  /// Returns the answer to the client. Throws Refusal and postgres::SqlError.
  http_server::Response (*run)(postgres::Session& session, const Arguments& arguments);
};

std::span<const Action> actions();

// The actions, by what they apply to.
http_server::Response pause_consumer(postgres::Session& session, const Arguments& arguments);
http_server::Response resume_consumer(postgres::Session& session, const Arguments& arguments);
http_server::Response reset_consumer(postgres::Session& session, const Arguments& arguments);
http_server::Response rebuild_consumer(postgres::Session& session, const Arguments& arguments);
http_server::Response replay_letters(postgres::Session& session, const Arguments& arguments);
http_server::Response resolve_letters(postgres::Session& session, const Arguments& arguments);
http_server::Response discard_letters(postgres::Session& session, const Arguments& arguments);
http_server::Response resync_repository(postgres::Session& session, const Arguments& arguments);
http_server::Response exclude_account(postgres::Session& session, const Arguments& arguments);
http_server::Response include_account(postgres::Session& session, const Arguments& arguments);

}  // namespace skua::admin
