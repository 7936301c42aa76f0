#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/guarded.hpp"
#include "http_server/message_source.hpp"
#include "http_server/request.hpp"
#include "http_server/response.hpp"

namespace skua::http_server {

/// A request and the answer to it. The handler keeps it until it knows the answer, which may be on
/// another thread. The first answer counts. Without one until the deadline the client gets 503.
class Exchange {
 public:
  using Answer = std::variant<Response, std::shared_ptr<MessageSource>>;

  /// `answered`: called once, on the thread that answers.
  Exchange(Request request, std::function<void()> answered)
      : request_(std::move(request)), answered_(std::move(answered)) {}

  const Request& request() const { return request_; }

  /// Any thread.
  void answer(Response response) { set(std::move(response)); }
  /// Answers with a stream: a websocket if the client asked for one, otherwise server-sent events.
  /// Any thread.
  void answer(std::shared_ptr<MessageSource> source) { set(std::move(source)); }

  /// For the server: the answer, if there is one.
  std::optional<Answer> take() {
    return answer_.with([](std::optional<Answer>& answer) { return std::move(answer); });
  }

 private:
  void set(Answer answer) {
    const bool first = answer_.with([&](std::optional<Answer>& current) {
      if (current) return false;
      current = std::move(answer);
      return true;
    });
    if (first) answered_();
  }

  const Request request_;
  const std::function<void()> answered_;
  Guarded<std::optional<Answer>> answer_;
};

}  // namespace skua::http_server
