#pragma once

#include <string_view>

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"

namespace skua::transport::impl {

/// A redirect that is followed if it names a location.
bool is_redirect(unsigned status);

/// The value of a header; empty: it is absent.
std::string_view header_text(const boost::beast::http::fields& head, std::string_view name);

/// The answer to a request to `url`, without its body.
HttpAnswer to_answer(const boost::beast::http::response_header<>& head, const Endpoint& url);

}  // namespace skua::transport::impl
