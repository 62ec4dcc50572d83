// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/command_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <CLI/CLI.hpp>

#include "catena/base/text.h"

namespace catena::app {
namespace {

// "; did you mean '--json'?" for a mistyped option or subcommand.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App *used = &app, *above = &app;
  int depth = 0;
  while (!used->get_subcommands().empty()) {
    above = used;
    used = used->get_subcommands().front();
    ++depth;
  }
  // `catena control inof`: the words after `control` are its subcommands.
  const bool has_subcommands = !used->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (has_subcommands) above = used;
  std::vector<std::string> options, commands;
  for (const CLI::Option* option : used->get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (const CLI::App* sub : above->get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(sub->get_name());
  for (int i = 1 + (has_subcommands ? depth : 0); i < argc; ++i) {
    const std::string word = argv[i];
    const bool option = word.starts_with("--");
    if (!option && !has_subcommands) continue;
    const auto& known = option ? options : commands;
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    std::string hint = did_you_mean(word, known);
    if (!hint.empty()) return hint;
  }
  return "";
}

}  // namespace

Option& Option::required(bool yes) {
  option_->required(yes);
  return *this;
}

Option& Option::help(const std::string& text) {
  option_->description(text);
  return *this;
}

Option& Option::placeholder(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

namespace {

// A message if the text is no finite number, or one that is not allowed.
template <class Allowed>
std::string refused(const std::string& text, const char* needs, Allowed allowed) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool number = !text.empty() && *end == '\0' && std::isfinite(value);
  return number && allowed(value) ? std::string() : std::string(needs) + ", not " + text;
}

}  // namespace

Option& Option::positive() {
  option_->check([](const std::string& text) {
    return refused(text, "must be a positive number", [](double x) { return x > 0.0; });
  });
  return *this;
}

Option& Option::non_negative() {
  option_->check([](const std::string& text) {
    return refused(text, "must be a number that is not negative",
                   [](double x) { return x >= 0.0; });
  });
  return *this;
}

Option& Option::in_range(int least, int greatest) {
  option_->check(CLI::Range(least, greatest));
  return *this;
}

Option& Option::existing_file() {
  option_->check(CLI::ExistingFile);
  return *this;
}

Option& Option::values(int count) {
  option_->expected(count);
  return *this;
}

Option& Option::may_be_bare() {
  option_->expected(0, 1);
  return *this;
}

Option& Option::separated_by(char c) {
  option_->delimiter(c);
  return *this;
}

Option& Option::repeatable() {
  option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Option Command::option(const std::string& names, std::string& to, const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, int& to, const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, double& to, const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, std::uint64_t& to, const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, std::optional<std::string>& to,
                       const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, std::optional<int>& to, const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, std::optional<double>& to,
                       const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, std::optional<std::uint64_t>& to,
                       const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, std::vector<std::string>& to,
                       const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
Option Command::option(const std::string& names, std::vector<double>& to, const std::string& help) {
  return Option(app_->add_option(names, to, help));
}
void Command::flag(const std::string& names, bool& to, const std::string& help) {
  app_->add_flag(names, to, help);
}

void Command::file(const std::string& names, std::string& to, const std::string& help) {
  option(names, to, help).placeholder("FILE");
}

void Command::names(const std::string& names, std::vector<std::string>& to,
                    const std::string& help) {
  option(names, to, help).separated_by(',').placeholder("NAME,...");
}

void Command::json(bool& print, std::string& file_name) {
  flag("--json", print, "Print JSON");
  file("-o,--output", file_name, "Write JSON to this file");
}

Command Command::subcommand(const std::string& name, const std::string& description) {
  return Command(app_->add_subcommand(name, description));
}

void Command::needs_subcommand() {
  app_->require_subcommand(1);
  app_->failure_message(CLI::FailureMessage::simple);
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::action(std::function<void()> callback) { app_->callback(std::move(callback)); }

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version, const std::string& footer)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->set_version_flag("--version", version, "Print the version and stop");
  app_->require_subcommand(1);
  app_->failure_message(CLI::FailureMessage::simple);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Command CommandLine::subcommand(const std::string& name, const std::string& description) {
  return Command(app_->add_subcommand(name, description));
}

// `catena help COMMAND` is `catena COMMAND --help`; commands of commands likewise.
int CommandLine::help(int argc, char** argv, int wrong_usage) const {
  std::string name = app_->get_name();
  const CLI::App* of = app_.get();
  for (int i = 2; i < argc; ++i) {
    const CLI::App* next = nullptr;
    std::vector<std::string> commands;
    for (const CLI::App* sub : of->get_subcommands([](const CLI::App*) { return true; })) {
      commands.push_back(sub->get_name());
      if (commands.back() == argv[i]) next = sub;
    }
    if (next == nullptr) {
      std::fprintf(stderr, "%s: error: there is no command '%s'%s\nRun `%s --help`.\n",
                   name.c_str(), argv[i], did_you_mean(argv[i], commands).c_str(), name.c_str());
      return wrong_usage;
    }
    if (i + 1 < argc) name += " " + next->get_name();
    of = next;
  }
  std::fputs(of == app_.get() ? of->help().c_str() : of->help(name).c_str(), stdout);
  return 0;
}

int CommandLine::run(int argc, char** argv, int wrong_usage) {
  try {
    if (argc > 1 && std::string(argv[1]) == "help") return help(argc, argv, wrong_usage);
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e);  // --help, --version
    std::string name = app_->get_name();
    for (const CLI::App* sub = app_.get(); !sub->get_subcommands().empty();) {
      sub = sub->get_subcommands().front();
      name += " " + sub->get_name();
    }
    std::fprintf(stderr, "%s: error: %s%s\nRun `%s --help`.\n", name.c_str(), e.what(),
                 suggestion(*app_, argc, argv).c_str(), name.c_str());
    return wrong_usage;
  }
  return 0;
}

}  // namespace catena::app
