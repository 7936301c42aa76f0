#include "serve/certificate.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include <boost/asio/buffer.hpp>

#include "transport/throwaway_certificate.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;

std::string make_temporary_file() {
  auto path = (std::filesystem::temp_directory_path() / "skua-sim-ca-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0) throw std::runtime_error("cannot make a temporary file for the CA");
  ::close(file);
  return path;
}

}  // namespace

Certificate::Certificate(const std::string& host, const std::string& ca_file)
    : context_(asio::ssl::context::tls_server), temporary_(ca_file.empty()) {
  const auto names = host.empty() ? std::vector<std::string>{"localhost", "127.0.0.1", "::1"}
                                  : std::vector<std::string>{host};
  const auto made = transport::make_throwaway_certificate(names);
  context_.use_certificate(asio::buffer(made.certificate_pem), asio::ssl::context::pem);
  context_.use_private_key(asio::buffer(made.key_pem), asio::ssl::context::pem);
  ca_file_ = temporary_ ? make_temporary_file() : ca_file;
  std::ofstream out(ca_file_, std::ios::trunc);
  out << made.ca_pem << std::flush;
  if (!out) throw std::runtime_error("cannot write the CA file " + ca_file_);
}

Certificate::~Certificate() {
  if (temporary_) std::remove(ca_file_.c_str());
}

}  // namespace skua::sim
