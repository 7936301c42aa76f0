#include "transport/impl/answer.hpp"

#include <string>
#include <utility>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>

#include "transport/errc.hpp"

namespace skua::transport::impl {

namespace {

/// The limit is above the usual compression: CARs compress to a half or a third, and JSON
/// compresses to a tenth.
constexpr std::size_t kMostInflation = 16;
/// Sizes up to this limit are always allowed.
constexpr std::size_t kAlwaysAllowed = std::size_t{8} << 20;

}  // namespace

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

ErrorCode AnswerBody::begin(std::string_view encoding, std::optional<std::uint64_t> length) {
  auto decoder = content_decoder_for(encoding);
  if (!decoder) return decoder.error();
  decoder_ = std::move(*decoder);
  // The decompressed size does not follow from the length of a compressed body.
  if (decoder_ || !length) return {};
  if (*length > request_.max_body_bytes) return errc::http_too_large;
  if (request_.spool_above > 0 && *length > request_.spool_above) return spool();
  text_.reserve(static_cast<std::size_t>(*length));
  return {};
}

ErrorCode AnswerBody::put(ByteView bytes) {
  if (!bytes.empty()) empty_ = false;
  sent_ += bytes.size();
  return decoder_ ? decoder_->decode(bytes, hold_) : hold(bytes);
}

ErrorCode AnswerBody::finish(bool to_the_end) {
  // An answer without a body (for example a redirect) may still name an encoding.
  const bool none = empty_ && !to_the_end;
  if (decoder_ && !none && !decoder_->is_complete()) return errc::http_dropped;
  return {};
}

ErrorCode AnswerBody::give_to(HttpAnswer& answer) {
  answer.body = std::move(text_);
  if (!file_) return {};
  auto mapped = file_->mapped();
  if (!mapped) return mapped.error();
  answer.spooled = std::move(*mapped);
  return {};
}

ErrorCode AnswerBody::hold(ByteView bytes) {
  if (bytes.size() > request_.max_body_bytes - size_) return errc::http_too_large;
  size_ += bytes.size();
  if (decoder_ && size_ > kAlwaysAllowed && size_ / kMostInflation > sent_) {
    return errc::http_inflated;
  }
  if (request_.may_hold && !request_.may_hold(bytes.size())) return errc::http_no_room;
  if (!file_ && request_.spool_above > 0 && size_ > request_.spool_above) {
    if (const auto error = spool()) return error;
  }
  if (file_) return file_->append(bytes);
  text_.append(as_text(bytes));
  return {};
}

ErrorCode AnswerBody::spool() {
  auto file = SpoolFile::create(spool_folder_);
  if (!file) return file.error();
  file_ = std::move(*file);
  // Frees the memory now, not only at the end of the answer.
  const auto held = std::exchange(text_, {});
  return file_->append(as_bytes(held));
}

}  // namespace skua::transport::impl
