// SPDX-License-Identifier: BSD-3-Clause
// catena view: the report page of a run or a model, served to a browser on this machine alone.
//
// The server listens on the loopback interface and answers only requests that name it as their
// host and do not come from a page of another origin, so that no web site can read a run through
// the browser (DNS rebinding included).
#include <charconv>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/core.h>
#include <semaphore.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/model_options.h"
#include "apps/catena/report/movable_model.h"
#include "apps/catena/report/report_data.h"
#include "catena/base/error.h"

// Last: it defines the macro _res of <resolv.h>, which breaks Eigen.
#include <httplib.h>

namespace catena::app {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

// The document shown. HDF5 and the workspaces serve one thread: a request holds the lock.
class Shown {
 public:
  virtual ~Shown() = default;
  virtual Json document() = 0;
  virtual Json state() = 0;
  virtual Json poses(const std::string& coordinates) = 0;
  std::mutex lock;
};

class ShownRun : public Shown {
 public:
  explicit ShownRun(const std::string& path) : run_(path) {}
  Json document() override {
    run_.refresh();
    return run_document(run_);
  }
  Json state() override {
    run_.refresh();
    return {{"rows", run_.rows()}, {"status", run_status(run_)}};
  }
  Json poses(const std::string&) override { throw Error("a run has no coordinates to move"); }

 private:
  RunFile run_;
};

class ShownModel : public Shown {
 public:
  ShownModel(Mechanism mechanism, std::string path, const std::vector<std::string>& independent)
      : mechanism_(std::move(mechanism)), path_(std::move(path)) {
    try {
      movable_ = std::make_unique<MovableModel>(mechanism_, mask_of(mechanism_, independent));
    } catch (const NumericalError& error) {
      if (!independent.empty()) throw;
      problem_ = error.what();
    }
  }
  Json document() override {
    Json document = model_document(mechanism_, path_, movable_.get());
    if (!movable_) document["notes"].push_back("The mechanism cannot be moved here: " + problem_);
    return document;
  }
  Json state() override { return {{"status", "model"}}; }
  Json poses(const std::string& coordinates) override {
    if (!movable_) throw Error("the mechanism cannot be moved: " + problem_);
    std::vector<double> values;
    const char* at = coordinates.data();
    const char* const end = at + coordinates.size();
    while (at != end) {
      double value = 0.0;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc{}) throw Error("a number for every coordinate is expected");
      values.push_back(value);
      at = next != end ? next + 1 : end;
    }
    const std::string problem = movable_->move(values);
    Json answer = pose_document(mechanism_, movable_->position());
    answer["values"] = movable_->values();
    answer["problem"] = problem;
    return answer;
  }

 private:
  Mechanism mechanism_;
  std::string path_;
  std::unique_ptr<MovableModel> movable_;  // null: the loops cannot be closed
  std::string problem_;
};

// Ctrl-C ends the server and with it the program, in order. A handler and not a blocked signal:
// libraries have threads of their own, which do not block it.
class StopSignals {
 public:
  StopSignals() {
    ::sem_init(&stopped_, 0, 0);
    struct sigaction action {};
    action.sa_handler = notify;
    for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  }
  static void notify(int) { ::sem_post(&stopped_); }  // async-signal-safe
  void wait() {
    while (::sem_wait(&stopped_) != 0) continue;  // interrupted by the handler itself
  }

 private:
  static inline sem_t stopped_{};
};

bool is_run(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending != ".yaml" && ending != ".yml" && ending != ".urdf" && ending != ".sdf" &&
         ending != ".world" && ending != ".xml";
}

// Refuses requests that do not come from this machine's own pages.
bool is_ours(const httplib::Request& request, int port) {
  if (request.get_header_value("Sec-Fetch-Site") == "cross-site") return false;
  for (const char* name : {"127.0.0.1", "localhost"}) {
    const std::string host = fmt::format("{}:{}", name, port);
    if (request.get_header_value("Host") != host) continue;
    return !request.has_header("Origin") || request.get_header_value("Origin") == "http://" + host;
  }
  return false;
}

void add_routes(httplib::Server& server, Shown& shown, const int& port) {
  server.set_default_headers(
      {{"Cache-Control", "no-store"},
       {"X-Content-Type-Options", "nosniff"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Referrer-Policy", "no-referrer"},
       {"Content-Security-Policy",
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"}});
  server.set_pre_routing_handler(
      [&port](const httplib::Request& request, httplib::Response& response) {
        if (is_ours(request, port)) return httplib::Server::HandlerResponse::Unhandled;
        response.status = 403;
        response.set_content("refused: not from a page of this server\n", "text/plain");
        return httplib::Server::HandlerResponse::Handled;
      });
  const auto answer = [&server, &shown](const char* path, const char* type, auto make) {
    server.Get(path,
               [&shown, type, make](const httplib::Request& request, httplib::Response& response) {
                 const std::lock_guard guard(shown.lock);
                 try {
                   response.set_content(make(request), type);
                 } catch (const std::exception& error) {
                   response.status = 500;
                   response.set_content(std::string(error.what()) + "\n", "text/plain");
                 }
               });
  };
  answer("/", "text/html; charset=utf-8",
         [&shown](const httplib::Request&) { return report_page(shown.document()); });
  answer("/data", "application/json", [&shown](const httplib::Request& request) {
    Json document = shown.document();
    // A page that follows a run has them already.
    if (request.get_param_value("meshes") == "no") document["meshes"] = Json::array();
    return document.dump_ascii();
  });
  answer("/state", "application/json",
         [&shown](const httplib::Request&) { return shown.state().dump(); });
  answer("/pose", "application/json", [&shown](const httplib::Request& request) {
    return shown.poses(request.get_param_value("q")).dump();
  });
}

void view(const ModelOptions& model, const std::vector<std::string>& independent, int wanted_port) {
  std::unique_ptr<Shown> shown;
  if (is_run(model.file())) {
    shown = std::make_unique<ShownRun>(model.file());
  } else {
    Mechanism mechanism = model.load({.freedoms = independent});
    print_warnings(mechanism);
    shown = std::make_unique<ShownModel>(std::move(mechanism), model.file(), independent);
  }

  StopSignals stops;
  httplib::Server server;
  server.set_keep_alive_timeout(1);  // s, for which Ctrl-C may have to wait
  int port = wanted_port;
  add_routes(server, *shown, port);
  if (wanted_port == 0)
    port = server.bind_to_any_port(kLoopback);
  else if (!server.bind_to_port(kLoopback, wanted_port))
    port = -1;
  if (port < 0)
    throw Error(fmt::format(
        "port {} is taken; choose another with --port, or none for any free one", wanted_port));
  fmt::print("{} is at http://{}:{}/   (Ctrl-C ends)\n", model.file(), kLoopback, port);
  std::fflush(stdout);
  std::thread waiting([&] {
    stops.wait();
    server.stop();
  });
  server.listen_after_bind();
  StopSignals::notify(0);  // if the server ended by itself
  waiting.join();
}

}  // namespace

void add_view(CommandLine& line) {
  Command command = line.subcommand("view", "Show a run or a model in the browser of this machine");
  const auto options = std::make_shared<ModelOptions>();
  const auto independent = std::make_shared<std::vector<std::string>>();
  const auto port = std::make_shared<int>(0);
  options->add(command);
  command
      .option("--independent", *independent,
              "Joints or freedoms of closed loops that get sliders (default: chosen by "
              "conditioning)")
      .separated_by(',')
      .placeholder("NAME,...");
  command.option("--port", *port, "Port to listen on (default: any free one)").in_range(0, 65535);
  command.footer(
      "Examples:\n"
      "  catena view run.h5\n"
      "  catena view models/arm6.yaml --port 8080\n"
      "  catena view models/four_bar.yaml --independent A\n\n"
      "FILE is a run or a model. A run in progress is followed. A model has sliders for its\n"
      "coordinates; one with closed loops for its independent ones, and the rest follows.\n"
      "Only browsers on this machine are answered.");
  command.action([options, independent, port] { view(*options, *independent, *port); });
}

}  // namespace catena::app
