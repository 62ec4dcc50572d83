// SPDX-License-Identifier: BSD-3-Clause
// The command line: a program with subcommands, each with options and flags.
//
// A thin layer over CLI11, which takes six seconds to compile and is seen by command_line.cpp
// alone. An option writes into a variable that must outlive the parsing; the overloads are the
// types in use.
//
//   Command command = line.subcommand("plot", "Plot columns of a run");
//   const auto options = std::make_shared<Options>();
//   command.option("RUN", options->run, "The run: an HDF5 file").required();
//   command.option("-o,--output", options->out, "The picture to write").placeholder("FILE");
//   command.action([options] { plot(*options); });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace catena::app {

// One option of a command; each call restricts it further or says how it is shown.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required(bool yes = true);
  Option& help(const std::string& text);         // instead of the text given at first
  Option& placeholder(const std::string& name);  // of the value in the help: FILE, S, NAME,...
  Option& show_default();                        // the variable's present value, in the help
  Option& one_of(const std::vector<std::string>& words);
  Option& positive();
  Option& non_negative();
  Option& in_range(int least, int greatest);
  Option& existing_file();
  Option& values(int count);     // so many words follow
  Option& may_be_bare();         // also without its value, which is then kBare
  Option& separated_by(char c);  // several values in one word
  Option& repeatable();          // may be given several times, with one value each

 private:
  CLI::Option* option_;
};

// The value of an option that was given without one.
inline constexpr const char* kBare = "true";

// One subcommand.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // `names`: "-o,--output", or "FILE" for an argument without a dash.
  Option option(const std::string& names, std::string& to, const std::string& help);
  Option option(const std::string& names, int& to, const std::string& help);
  Option option(const std::string& names, double& to, const std::string& help);
  Option option(const std::string& names, std::uint64_t& to, const std::string& help);
  Option option(const std::string& names, std::optional<std::string>& to, const std::string& help);
  Option option(const std::string& names, std::optional<int>& to, const std::string& help);
  Option option(const std::string& names, std::optional<double>& to, const std::string& help);
  Option option(const std::string& names, std::optional<std::uint64_t>& to,
                const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& to, const std::string& help);
  Option option(const std::string& names, std::vector<double>& to, const std::string& help);
  void flag(const std::string& names, bool& to, const std::string& help);

  // Options that many commands have: a file, names with commas between them, and results as JSON
  // (--json prints it, -o writes it).
  void file(const std::string& names, std::string& to, const std::string& help);
  void names(const std::string& names, std::vector<std::string>& to, const std::string& help);
  void json(bool& print, std::string& file_name);

  Command subcommand(const std::string& name, const std::string& description);
  void needs_subcommand();

  void footer(const std::string& text);         // of the help: examples
  void action(std::function<void()> callback);  // once everything is parsed

 private:
  CLI::App* app_;
};

// The program itself.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& version,
              const std::string& footer);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command subcommand(const std::string& name, const std::string& description);

  // Parses the arguments and runs the action of the subcommand, whose exceptions pass. Prints help,
  // version and mistakes of the usage, and returns 0, or `wrong_usage`.
  int run(int argc, char** argv, int wrong_usage);

 private:
  int help(int argc, char** argv, int wrong_usage) const;

  std::unique_ptr<CLI::App> app_;
};

}  // namespace catena::app
