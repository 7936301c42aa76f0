#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.hpp"

namespace skua::transport {
class HttpClient;
}

namespace skua::top {

/// The pages that are read. The first two show the state of the process, the others read the
/// database.
enum class Page : std::uint8_t { Health, Process, Status, Latest };
inline constexpr std::array kPages = {Page::Health, Page::Process, Page::Status, Page::Latest};

/// The end of a request for a page.
struct Answer {
  Page page = Page::Health;
  std::chrono::steady_clock::time_point at;
  /// The HTTP status; 0 if there is no answer.
  unsigned status = 0;
  std::string body;
  /// Why there is no answer.
  std::string failure;
};

/// Returns the path of a page, such as `/health/ready`.
const char* path_of(Page page);

/// Requests the pages of a process. A page is requested again only after its former request has
/// ended. A request ends within `timeout`, and a body has four MiB at most. Redirects are not
/// followed. Owned by one thread.
class Poller {
 public:
  struct Options {
    /// The origin without a slash at the end, such as `http://127.0.0.1:2580`.
    std::string origin;
    /// See transport::HttpClientOptions.
    std::string ca_file = {};
    std::chrono::milliseconds timeout = std::chrono::seconds(10);
    /// Another thread calls this function when there is an answer to take. The function must not
    /// block or throw.
    std::function<void()> on_answer = nullptr;
  };

  /// Throws std::runtime_error if the CA file cannot be used.
  explicit Poller(Options options);
  /// Aborts the requests.
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// Requests a page, unless a request for it is under way.
  void ask(Page page);
  /// Returns the answers since the last call.
  std::vector<Answer> take();

 private:
  struct Shared {
    std::array<bool, kPages.size()> is_asked{};
    std::vector<Answer> answers;
  };

  void finish(Answer answer);

  const Options options_;
  Guarded<Shared> shared_;
  std::unique_ptr<transport::HttpClient> client_;
};

}  // namespace skua::top
