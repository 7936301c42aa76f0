#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "http_server/exchange.hpp"
#include "postgres/session.hpp"
#include "tables/dead_letters.hpp"

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

/// The kind of object that an action applies to, which determines the members of the JSON body.
enum class Parameter : std::uint8_t {
  /// The only member `name` is the name of a consumer.
  Name,
  /// The members select dead letters as the options of `skua dead-letters replay` do: `ids` alone,
  /// or `consumer` or `all` with `lane`, `did` and `error`.
  Letters,
  /// The only member `did` is the DID of an account.
  Did,
};

/// Returns the names of the members that a body may have.
std::span<const std::string_view> members_of(Parameter parameter);

/// The maximum length of `ids`.
inline constexpr std::size_t kMostIds = 100;
/// The maximum number of dead letters that a request without `ids` may select.
inline constexpr std::size_t kMostLetters = 1'000;
/// The maximum length of a consumer's name and of a part of an error, in bytes.
inline constexpr std::size_t kLongestName = 200;

/// The checked body of a request. Only the member that the action needs is set.
struct Arguments {
  std::string name = {};
  /// `ids` is sorted and has no duplicates. Without `ids` only letters of a consumer, or all.
  tables::LetterFilter letters = {};
  std::string did = {};
};

/// Parses the body of a request. Throws Refusal (400) if the body is not an object with the members
/// of the parameter and valid values.
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
