#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"
#include "transport/impl/content_decoder.hpp"
#include "transport/impl/spool_file.hpp"

namespace skua::transport::impl {

/// Whether an answer with this status is a redirect that is followed if it names a location.
bool is_redirect(unsigned status);

/// Returns the value of a header, or an empty text if the header is absent.
std::string_view header_text(const boost::beast::http::fields& head, std::string_view name);

/// Returns the answer to a request to `url`, without its body.
HttpAnswer to_answer(const boost::beast::http::response_header<>& head, const Endpoint& url);

/// Receives the body of one answer, decodes and counts it, and stores it in memory or in a
/// temporary file. Belongs to one exchange, on the client's thread. Errors: http_malformed,
/// http_too_large, http_dropped, http_inflated, http_no_room, spool_failed.
class AnswerBody {
 public:
  /// Both arguments must outlive this object.
  AnswerBody(const HttpRequest& request, const std::filesystem::path& spool_folder)
      : request_(request), spool_folder_(spool_folder) {}
  AnswerBody(const AnswerBody&) = delete;
  AnswerBody& operator=(const AnswerBody&) = delete;

  /// Must be called once, after the head. `length` is Content-Length, if known.
  ErrorCode begin(std::string_view encoding, std::optional<std::uint64_t> length);
  ErrorCode put(ByteView bytes);
  /// Must be called once, after the last byte. Checks that the body is complete. `to_the_end` tells
  /// that the end of the connection delimits the body, and that this end may have come too early.
  ErrorCode finish(bool to_the_end);

  /// Must be called once, after `finish`.
  ErrorCode give_to(HttpAnswer& answer);

 private:
  ErrorCode hold(ByteView bytes);
  ErrorCode spool();

  const HttpRequest& request_;
  const std::filesystem::path& spool_folder_;
  std::unique_ptr<ContentDecoder> decoder_;
  const ContentDecoder::Put hold_ = [this](ByteView bytes) { return hold(bytes); };
  bool empty_ = true;
  std::size_t sent_ = 0;  // the number of received bytes
  std::size_t size_ = 0;  // the number of decoded bytes
  std::string text_;
  std::unique_ptr<SpoolFile> file_;
};

/// Makes Beast's parser pass the bytes of a body on without storing them. The value is set between
/// the head and the body.
struct AnswerBodyOfBeast {
  using value_type = AnswerBody*;

  class reader {  // NOLINT(readability-identifier-naming): Beast looks for this name
   public:
    template <class Header>
    reader(Header&, value_type& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>&, ErrorCode& error) { error = {}; }

    std::size_t put(const boost::asio::const_buffer& buffer, ErrorCode& error) {
      error = body_->put({static_cast<const std::uint8_t*>(buffer.data()), buffer.size()});
      return buffer.size();
    }

    void finish(ErrorCode& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace skua::transport::impl
