#include "transport/impl/answer_head.hpp"

#include <string>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>

namespace skua::transport::impl {

namespace beast = boost::beast;
namespace http = boost::beast::http;

bool is_redirect(unsigned status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string_view header_text(const http::fields& head, std::string_view name) {
  const auto value = head[beast::string_view(name.data(), name.size())];
  return {value.data(), value.size()};
}

HttpAnswer to_answer(const http::response_header<>& head, const Endpoint& url) {
  HttpAnswer answer;
  answer.status = head.result_int();
  answer.url = url.http_url();
  answer.content_type = header_text(head, "Content-Type");
  answer.date = header_text(head, "Date");
  if (head.find(http::field::location) != head.end()) {
    answer.location = std::string(header_text(head, "Location"));
  }
  answer.retry_after = header_text(head, "Retry-After");
  answer.rate_limit = header_text(head, "RateLimit-Limit");
  answer.rate_limit_remaining = header_text(head, "RateLimit-Remaining");
  answer.rate_limit_reset = header_text(head, "RateLimit-Reset");
  return answer;
}

}  // namespace skua::transport::impl
