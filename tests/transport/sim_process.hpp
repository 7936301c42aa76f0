#pragma once

#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

extern char** environ;

namespace skua::test {

/// A running skua-sim that serves a capture, or (an empty path) the network that the flags
/// describe, ended with SIGTERM when destroyed.
class SimProcess {
 public:
  SimProcess(const std::filesystem::path& program, const std::filesystem::path& capture,
             const std::filesystem::path& log, const std::vector<std::string>& flags)
      : log_(log) {
    std::vector<std::string> words = {program, "--log", log};
    if (!capture.empty()) words.insert(words.end(), {"--serve", capture});
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    int out[2];
    if (::pipe(out) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    posix_spawn_file_actions_addclose(&actions, out[1]);
    const int error =
        ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    std::string line;
    char c = 0;
    while (error == 0 && ::read(out[0], &c, 1) == 1 && c != '\n') line += c;
    ::close(out[0]);
    if (error != 0) {
      throw std::runtime_error("cannot start " + program.string() + ": " + std::strerror(error) +
                               " (scripts/build release skua-sim)");
    }
    ready_ = nlohmann::json::parse(line, nullptr, false);
  }

  ~SimProcess() { end(); }
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  /// The line it printed; discarded when it ended without one.
  const nlohmann::json& ready() const { return ready_; }

  /// Ends it and returns its exit code, -1 for a signal.
  int end() {
    if (pid_ <= 0) return exit_code_;
    ::kill(pid_, SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return exit_code_;
  }

  /// The log's lines of one kind of event so far.
  std::vector<nlohmann::json> events(const std::string& kind) const {
    std::vector<nlohmann::json> found;
    std::ifstream in(log_);
    for (std::string line; std::getline(in, line);) {
      auto event = nlohmann::json::parse(line);
      if (event.at("event") == kind) found.push_back(std::move(event));
    }
    return found;
  }

 private:
  std::filesystem::path log_;
  pid_t pid_ = -1;
  int exit_code_ = -1;
  nlohmann::json ready_;
};

}  // namespace skua::test
