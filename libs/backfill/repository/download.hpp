#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backfill/queue/job_end.hpp"
#include "backfill/repository/fetched_repository.hpp"
#include "backfill/repository/held_car.hpp"
#include "backfill/repository/job_services.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// Whether an operation ended because this process stops (JobStopped).
bool is_stop(const ErrorCode& error);

/// Counts the bytes of a CAR. `site`: of its host (site_of_origin); empty: it is a file.
std::shared_ptr<HeldCar> held_car(const JobServices& services, std::string site);

/// The request for a job's repository. `held` counts its bytes.
transport::HttpRequest repository_request(const JobServices& services,
                                          const FetchedRepository& fetched,
                                          std::shared_ptr<HeldCar> held);

/// How the job ended if the answer is not a CAR; nothing: it is one. Pure.
std::optional<JobEnd> end_without_car(const std::string& host,
                                      const Result<transport::HttpAnswer>& answer, Timestamp now);

/// Stores a downloaded CAR in `fetched`.
void keep_answer(FetchedRepository& fetched, transport::HttpAnswer answer,
                 const std::shared_ptr<HeldCar>& held);

/// Maps the job's file into `fetched`. Returns why that failed; empty: it did not.
std::string map_car_file(FetchedRepository& fetched, const std::shared_ptr<HeldCar>& held);

}  // namespace skua::backfill
