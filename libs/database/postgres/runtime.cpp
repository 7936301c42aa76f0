#include "postgres/runtime.hpp"

#include <exception>

#include "base/log.hpp"
#include "postgres/database_watch.hpp"

namespace skua::postgres {
namespace {

void log_fatal(const std::string& what) {
  logger("skua")->critical("{}", what);
}

}  // namespace

Runtime::Runtime(std::string url, Clocks clocks_of_process, OnFatal on_fatal)
    : database_url(std::move(url)),
      clocks(clocks_of_process),
      on_fatal_(on_fatal ? std::move(on_fatal) : log_fatal) {}

void Runtime::fatal(const std::string& what) {
  first_.with([&](auto& first) {
    if (!first) first = what;
  });
  on_fatal_(what);
}

std::optional<std::string> Runtime::fatal_error() const {
  return first_.with([](const auto& first) { return first; });
}

std::optional<std::string> Runtime::reason_to_stop() const {
  if (auto error = fatal_error()) return error;
  const auto change = database_watch().change(database_url);
  if (!change) return std::nullopt;
  return "the database is not the one that this began with: " + *change + "; start it again";
}

void end_process(const std::string& what) {
  log_fatal(what);
  std::terminate();
}

}  // namespace skua::postgres
