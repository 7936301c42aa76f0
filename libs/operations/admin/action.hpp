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

/// A request that cannot be executed, with the answer to the client.
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

/// The kind of object that an action applies to. The JSON body has exactly this member.
enum class Parameter : std::uint8_t {
  /// The member `name` is the name of a consumer.
  Name,
  /// The member `ids` has the numbers of dead letters.
  Ids,
  /// The member `did` is the DID of an account.
  Did,
};

/// Returns the name of the member: `name`, `ids` or `did`.
std::string_view to_string(Parameter parameter);

/// The maximum number of dead letters in a request.
inline constexpr std::size_t kMostIds = 100;
/// The maximum length of a consumer's name, in bytes.
inline constexpr std::size_t kLongestName = 200;

/// The checked body of a request. Only the member that the action needs is set.
struct Arguments {
  std::string name = {};
  /// The numbers are sorted and have no duplicates.
  std::vector<std::int64_t> ids = {};
  std::string did = {};
};

/// Parses the body of a request. Throws Refusal (400) if the body is not an object with exactly
/// this member and a valid value.
Arguments parse_arguments(Parameter parameter, const std::string& body);

/// Returns the arguments as one line for the log.
std::string text_of(Parameter parameter, const Arguments& arguments);

/// An action of an operator, equal to a command. Each action is declared once, in `actions`; the
/// routes and `/admin/check` are derived from this list.
struct Action {
  const char* path;
  Parameter parameter;
  /// The command with the same effect.
  const char* command;
  /// Executes the action and returns the answer to the client. Throws Refusal and
  /// postgres::SqlError.
  http_server::Response (*run)(postgres::Session& session, const Arguments& arguments);
};

std::span<const Action> actions();

// The actions, grouped by the kind of object that they apply to.
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
