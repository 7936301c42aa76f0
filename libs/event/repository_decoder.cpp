#include "event/repository_decoder.hpp"

#include <utility>

#include "event/record_decoder.hpp"

namespace skua::event {

void RepositoryDecoder::decode(std::string_view did, atproto::Tid rev,
                               const repo::ListedRecord& record, UnresolvedEvent& out) {
  out.did = did;
  out.source = EventSource::Backfill;
  // Whatever is wrong with the path, people will want to see the block.
  std::string path_error = read_path(record.path, rev, out);
  std::string error =
      read_record(record.cid, record.block, scratch_, std::get<RecordChange>(out.body));
  if (!path_error.empty()) error = std::move(path_error);
  if (!error.empty()) reject(record.path, std::move(error), Operation::Create, out);
}

}  // namespace skua::event
