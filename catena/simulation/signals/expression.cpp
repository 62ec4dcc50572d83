// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/signals/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

// Limits of an expression, refused with a message beyond them: values on the stack (an array of the
// evaluation, so that nothing is allocated), brackets in brackets (the parser recurses),
// instructions.
constexpr std::size_t kStackDepth = 32;
constexpr int kDeepestNesting = 200;
constexpr std::size_t kLongestProgram = 10000;

// ---- Jets: f(u) has the derivatives f' u̇ and f'' u̇² + f' ü. ----

Jet chain(const Jet& u, double f, double f1, double f2) {
  return {f, f1 * u.rate, f2 * u.rate * u.rate + f1 * u.acceleration};
}
Jet operator+(const Jet& a, const Jet& b) {
  return {a.value + b.value, a.rate + b.rate, a.acceleration + b.acceleration};
}
Jet operator-(const Jet& a) { return {-a.value, -a.rate, -a.acceleration}; }
Jet operator-(const Jet& a, const Jet& b) { return a + (-b); }
Jet operator*(const Jet& a, const Jet& b) {
  return {a.value * b.value, a.rate * b.value + a.value * b.rate,
          a.acceleration * b.value + 2.0 * a.rate * b.rate + a.value * b.acceleration};
}
Jet operator/(const Jet& a, const Jet& b) {
  const double x = b.value;
  return a * chain(b, 1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x));
}

template <class Scalar>
Scalar make(double x) {
  if constexpr (std::is_same_v<Scalar, double>)
    return x;
  else
    return {x, 0.0, 0.0};
}
double value_of(double x) { return x; }
double value_of(const Jet& x) { return x.value; }

double power(double a, double b) { return std::pow(a, b); }
Jet power(const Jet& a, const Jet& b) {
  const double p = b.value;
  if (b.rate == 0.0 && b.acceleration == 0.0) {
    const double f1 = p == 0.0 ? 0.0 : p * std::pow(a.value, p - 1.0);
    const double f2 = p == 0.0 || p == 1.0 ? 0.0 : p * (p - 1.0) * std::pow(a.value, p - 2.0);
    return chain(a, std::pow(a.value, p), f1, f2);
  }
  const double x = a.value;
  const Jet exponent = b * chain(a, std::log(x), 1.0 / x, -1.0 / (x * x));
  const double f = std::exp(exponent.value);
  return chain(exponent, f, f, f);
}

double atan2_of(double y, double x) { return std::atan2(y, x); }
Jet atan2_of(const Jet& y, const Jet& x) {
  const double r2 = x.value * x.value + y.value * y.value;
  const double turn = x.value * y.rate - y.value * x.rate;  // r² times the rate of the angle
  const double r2_rate = 2.0 * (x.value * x.rate + y.value * y.rate);
  return {std::atan2(y.value, x.value), turn / r2,
          (x.value * y.acceleration - y.value * x.acceleration - turn * r2_rate / r2) / r2};
}

}  // namespace

// The interpreter: one case for each instruction. Long because it is one switch: cases of one or
// two lines, which share the stack in registers, would not become clearer as functions.
template <class Scalar, class AtSwitch>
Scalar Expression::run(const Scalar& t, const State* state, AtSwitch at_switch,
                       [[maybe_unused]] const double* rates) const {
  std::array<Scalar, kStackDepth> stack;  // not cleared: that would cost more than the rest
  std::size_t top = 0;                    // the next free place
  // f, f', f'' at the argument; a double needs f alone.
  const auto apply = [&](auto f, [[maybe_unused]] auto f1, [[maybe_unused]] auto f2) {
    Scalar& u = stack[top - 1];
    if constexpr (std::is_same_v<Scalar, double>)
      u = f(u);
    else
      u = chain(u, f(u.value), f1(u.value), f2(u.value));
  };
  // Kinks of functions of time are switches, once set_switches() was called; others are evaluated
  // as they are.
  const auto at_kink = [&](int kink, double argument) {
    if (kink < 0) return argument >= 0.0;
    const bool on = at_switch(kink, argument);
    return switch_on_[index(kink)] == kNotSet ? argument >= 0.0 : on;
  };
  for (const Instruction& i : program_) {
    switch (i.code) {
      case Code::constant:
        stack[top++] = make<Scalar>(i.value);
        break;
      case Code::time:
        stack[top++] = t;
        break;
      case Code::position:
        stack[top++] = make<Scalar>(state->q[i.index]);
        if constexpr (std::is_same_v<Scalar, Jet>)
          if (rates != nullptr) stack[top - 1].rate = rates[i.index];
        break;
      case Code::velocity:
        stack[top++] = make<Scalar>(state->v[i.index]);
        break;
      case Code::negate:
        stack[top - 1] = -stack[top - 1];
        break;
      case Code::add:
        --top;
        stack[top - 1] = stack[top - 1] + stack[top];
        break;
      case Code::subtract:
        --top;
        stack[top - 1] = stack[top - 1] - stack[top];
        break;
      case Code::multiply:
        --top;
        stack[top - 1] = stack[top - 1] * stack[top];
        break;
      case Code::divide:
        --top;
        stack[top - 1] = stack[top - 1] / stack[top];
        break;
      case Code::power:
        --top;
        stack[top - 1] = power(stack[top - 1], stack[top]);
        break;
      case Code::atan2:
        --top;
        stack[top - 1] = atan2_of(stack[top - 1], stack[top]);
        break;
      case Code::min:
        --top;
        if (!at_kink(i.index, value_of(stack[top]) - value_of(stack[top - 1])))
          stack[top - 1] = stack[top];
        break;
      case Code::max:
        --top;
        if (at_kink(i.index, value_of(stack[top]) - value_of(stack[top - 1])))
          stack[top - 1] = stack[top];
        break;
      case Code::step:
        stack[top - 1] = make<Scalar>(at_switch(i.index, value_of(stack[top - 1])) ? 1.0 : 0.0);
        break;
      case Code::sin:
        apply([](double x) { return std::sin(x); }, [](double x) { return std::cos(x); },
              [](double x) { return -std::sin(x); });
        break;
      case Code::cos:
        apply([](double x) { return std::cos(x); }, [](double x) { return -std::sin(x); },
              [](double x) { return -std::cos(x); });
        break;
      case Code::tan:
        apply([](double x) { return std::tan(x); },
              [](double x) { return 1.0 + std::tan(x) * std::tan(x); },
              [](double x) { return 2.0 * std::tan(x) * (1.0 + std::tan(x) * std::tan(x)); });
        break;
      case Code::asin:
        apply([](double x) { return std::asin(x); },
              [](double x) { return 1.0 / std::sqrt(1.0 - x * x); },
              [](double x) { return x / std::pow(1.0 - x * x, 1.5); });
        break;
      case Code::acos:
        apply([](double x) { return std::acos(x); },
              [](double x) { return -1.0 / std::sqrt(1.0 - x * x); },
              [](double x) { return -x / std::pow(1.0 - x * x, 1.5); });
        break;
      case Code::atan:
        apply([](double x) { return std::atan(x); }, [](double x) { return 1.0 / (1.0 + x * x); },
              [](double x) { return -2.0 * x / ((1.0 + x * x) * (1.0 + x * x)); });
        break;
      case Code::sinh:
        apply([](double x) { return std::sinh(x); }, [](double x) { return std::cosh(x); },
              [](double x) { return std::sinh(x); });
        break;
      case Code::cosh:
        apply([](double x) { return std::cosh(x); }, [](double x) { return std::sinh(x); },
              [](double x) { return std::cosh(x); });
        break;
      case Code::tanh:
        apply([](double x) { return std::tanh(x); },
              [](double x) { return 1.0 - std::tanh(x) * std::tanh(x); },
              [](double x) { return -2.0 * std::tanh(x) * (1.0 - std::tanh(x) * std::tanh(x)); });
        break;
      case Code::exp:
        apply([](double x) { return std::exp(x); }, [](double x) { return std::exp(x); },
              [](double x) { return std::exp(x); });
        break;
      case Code::log:
        apply([](double x) { return std::log(x); }, [](double x) { return 1.0 / x; },
              [](double x) { return -1.0 / (x * x); });
        break;
      case Code::sqrt:
        apply([](double x) { return std::sqrt(x); }, [](double x) { return 0.5 / std::sqrt(x); },
              [](double x) { return -0.25 / (x * std::sqrt(x)); });
        break;
      case Code::abs:
        if (!at_kink(i.index, value_of(stack[top - 1]))) stack[top - 1] = -stack[top - 1];
        break;
    }
  }
  return stack[0];
}

double Expression::value(double t, const State& state) const {
  return run<double>(t, &state, [this](int i, double) { return switch_on_[index(i)] != 0; });
}

double Expression::live(double t, const State& state) const {
  return run<double>(t, &state, [](int, double argument) { return argument >= 0.0; });
}

Jet Expression::live_jet(double t, const State& state, std::span<const double> rates) const {
  return run<Jet>(
      Jet{t, 1.0, 0.0}, &state, [](int, double argument) { return argument >= 0.0; }, rates.data());
}

Jet Expression::jet(double t) const {
  static const State kNone;  // a function of time asks for none
  return run<Jet>(Jet{t, 1.0, 0.0}, &kNone,
                  [this](int i, double) { return switch_on_[index(i)] != 0; });
}

void Expression::switch_arguments(double t, const State& state, std::span<double> arguments) const {
  run<double>(t, &state, [&](int i, double argument) {
    arguments[index(i)] = argument;
    return switch_on_[index(i)] != 0;
  });
}

void Expression::set_switches(double t, const State& state) {
  run<double>(t, &state, [&](int i, double argument) {
    switch_on_[index(i)] = argument >= 0.0 ? 1 : 0;
    return argument >= 0.0;
  });
}

// Recursive descent: sum = product {(+|-) product}, product = unary {(*|/) unary},
// unary = -unary | power, power = primary [^ unary].
class ExpressionParser {
 public:
  // `used`: gets the names of coordinates and freedoms.
  ExpressionParser(Expression& result, const Mechanism* mechanism,
                   std::vector<std::string>* used = nullptr)
      : to_(result), mechanism_(mechanism), used_(used), text_(result.text_) {}

  void parse() {
    skip_spaces();
    if (at_ == text_.size()) fail(at_, "is empty");
    sum();
    if (at_ != text_.size()) fail(at_, std::string("'") + text_[at_] + "' is not expected here");
    const bool time_alone = !to_.uses_state_ && !to_.constant_;
    for (Expression::Instruction& i : to_.program_) {
      if (i.code != Code::abs && i.code != Code::min && i.code != Code::max) continue;
      i.index = time_alone ? static_cast<int>(to_.switch_on_.size()) : -1;
      if (time_alone) to_.switch_on_.push_back(Expression::kNotSet);
    }
  }

 private:
  using Code = Expression::Code;
  struct Function {
    std::string name;
    int arguments;
  };

  [[noreturn]] void fail(std::size_t place, const std::string& what) const {
    throw Error("expression \"" + text_ + "\", character " + std::to_string(place + 1) + ": " +
                what);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_spaces();
    return true;
  }

  // `change`: growth of the stack.
  void emit(Code code, int change, int index = 0, double value = 0.0) {
    depth_ += change;
    if (depth_ > static_cast<int>(kStackDepth)) fail(at_, "is nested too deeply");
    if (to_.program_.size() == kLongestProgram) fail(at_, "is too long");
    to_.program_.push_back({code, index, value});
  }
  void emit_constant(double value) { emit(Code::constant, 1, 0, value); }

  void sum() {
    if (++nesting_ > kDeepestNesting) fail(at_, "is nested too deeply");
    product();
    while (true) {
      if (take('+')) {
        product();
        emit(Code::add, -1);
      } else if (take('-')) {
        product();
        emit(Code::subtract, -1);
      } else {
        break;
      }
    }
    --nesting_;
  }

  void product() {
    unary();
    while (true) {
      if (take('*')) {
        unary();
        emit(Code::multiply, -1);
      } else if (take('/')) {
        unary();
        emit(Code::divide, -1);
      } else {
        return;
      }
    }
  }

  void unary() {
    if (++nesting_ > kDeepestNesting) fail(at_, "is nested too deeply");
    if (take('-')) {
      unary();
      emit(Code::negate, 0);
    } else if (take('+')) {
      unary();
    } else {
      primary();
      if (take('^')) {
        unary();
        emit(Code::power, -1);
      }
    }
    --nesting_;
  }

  void primary() {
    const std::size_t start = at_;
    if (at_ == text_.size()) fail(at_, "ends too early");
    if (take('(')) {
      sum();
      if (!take(')'))
        fail(at_, "')' is missing for the '(' at character " + std::to_string(start + 1));
      return;
    }
    const char c = text_[at_];
    if ((c >= '0' && c <= '9') || c == '.') {
      double value = 0.0;
      const auto [end, code] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (code != std::errc{}) fail(at_, "this number cannot be read");
      at_ = to_size(end - text_.data());
      skip_spaces();
      emit_constant(value);
      return;
    }
    const std::string name = word();
    if (name.empty()) fail(at_, std::string("'") + c + "' is not expected here");
    if (at_ < text_.size() && text_[at_] == '(') {
      call(name, start);
      return;
    }
    variable(name, start);
  }

  // Names of hinges may hold anything but spaces, brackets, commas and operators; a '-' counts as
  // part of a name when the mechanism has such a name.
  std::string word() {
    const auto part = [](char c) {
      return std::string_view(" \t()+-*/^,").find(c) == std::string_view::npos;
    };
    std::size_t end = at_;
    while (end < text_.size() && part(text_[end])) ++end;
    if (mechanism_ != nullptr && end - at_ > 2 && text_[at_ + 1] == '.') {
      std::size_t longest = end;
      for (std::size_t n = end; n < text_.size() && text_[n] != ' ' && text_[n] != ')'; ++n)
        if (known(text_.substr(at_, n + 1 - at_))) longest = n + 1;
      end = longest;
    }
    std::string name = text_.substr(at_, end - at_);
    at_ = end;
    skip_spaces();
    return name;
  }

  std::span<const std::string> names(char kind) const {
    return kind == 'q' ? mechanism_->position_names() : mechanism_->velocity_names();
  }

  bool known(const std::string& name) const {
    if (name.size() < 3 || (name[0] != 'q' && name[0] != 'v') || name[1] != '.') return false;
    const auto all = names(name[0]);
    return std::find(all.begin(), all.end(), name.substr(2)) != all.end();
  }

  void variable(const std::string& name, std::size_t start) {
    if (name == "pi") return emit_constant(std::numbers::pi);
    if (name == "e") return emit_constant(std::numbers::e);
    to_.constant_ = false;
    if (name == "t") return emit(Code::time, 1);
    if (mechanism_ != nullptr && known(name)) {
      const bool position = name[0] == 'q';
      to_.uses_state_ = true;
      if (used_ != nullptr) used_->push_back(name.substr(2));
      const int index = position ? mechanism_->position_index(name.substr(2))
                                 : mechanism_->velocity_index(name.substr(2));
      return emit(position ? Code::position : Code::velocity, 1, index);
    }
    std::vector<std::string> candidates{"t", "pi", "e"};
    if (mechanism_ != nullptr)
      for (const char kind : {'q', 'v'})
        for (const std::string& each : names(kind)) candidates.push_back(kind + ("." + each));
    std::string rest = did_you_mean(name, candidates);
    if (rest.empty())
      rest = mechanism_ == nullptr ? "; only t, pi and e are known here"
                                   : "; t, pi, e, q.NAME and v.NAME are known";
    fail(start, "there is no '" + name + "'" + rest);
  }

  void call(const std::string& name, std::size_t start) {
    static const std::vector<Function> kFunctions{
        {"sin", 1},  {"cos", 1},   {"tan", 1},  {"asin", 1}, {"acos", 1}, {"atan", 1},
        {"sinh", 1}, {"cosh", 1},  {"tanh", 1}, {"exp", 1},  {"log", 1},  {"sqrt", 1},
        {"abs", 1},  {"atan2", 2}, {"min", 2},  {"max", 2},  {"step", 1}, {"pow", 2},
        {"sign", 1}, {"pulse", 3}, {"clamp", 3}};
    std::size_t f = 0;
    while (f < kFunctions.size() && kFunctions[f].name != name) ++f;
    if (f == kFunctions.size()) {
      std::vector<std::string> candidates;
      candidates.reserve(kFunctions.size());
      for (const Function& function : kFunctions) candidates.push_back(function.name);
      fail(start, "there is no function '" + name + "'" + did_you_mean(name, candidates) +
                      "; the functions are " + listed(candidates));
    }
    if (name == "pulse") return pulse(start);
    take('(');
    int arguments = 0;
    do {
      if (arguments > 0 && name == "clamp") emit_clamp_part(arguments);
      sum();
      ++arguments;
    } while (take(','));
    if (!take(')')) fail(at_, "')' is missing after the arguments of " + name);
    check_count(name, arguments, kFunctions[f].arguments, start);
    if (name == "clamp") return emit_clamp_part(arguments);
    if (name == "step") return emit_jump();
    if (name == "sign") {  // 2 step(x) − 1
      emit_jump();
      emit_constant(2.0);
      emit(Code::multiply, -1);
      emit_constant(1.0);
      return emit(Code::subtract, -1);
    }
    if (name == "pow") return emit(Code::power, -1);
    // The others stand in the order of their codes.
    const int code = static_cast<int>(Code::sin) + static_cast<int>(f);
    emit(static_cast<Code>(code), kFunctions[f].arguments == 2 ? -1 : 0);
  }

  void check_count(const std::string& name, int given, int needed, std::size_t start) const {
    if (given == needed) return;
    fail(start, name + " needs " + std::to_string(needed) +
                    (needed == 1 ? " argument, not " : " arguments, not ") + std::to_string(given));
  }

  void emit_jump() {
    emit(Code::step, 0, static_cast<int>(to_.switch_on_.size()));
    to_.switch_on_.push_back(0);
  }

  // clamp(x, low, high) = min(max(x, low), high): max after the second argument, min after the
  // third.
  void emit_clamp_part(int arguments) {
    if (arguments == 2) emit(Code::max, -1);
    if (arguments == 3) emit(Code::min, -1);
  }

  // pulse(x, a, b) = step(x − a) − step(x − b); the text of x is read twice.
  void pulse(std::size_t start) {
    take('(');
    const std::size_t first = at_;
    sum();
    if (!take(',')) fail(at_, "pulse needs 3 arguments: pulse(x, from, to)");
    sum();
    emit(Code::subtract, -1);
    emit_jump();
    if (!take(',')) fail(at_, "pulse needs 3 arguments: pulse(x, from, to)");
    const std::size_t third = at_;
    at_ = first;
    sum();
    at_ = third;
    sum();
    emit(Code::subtract, -1);
    emit_jump();
    emit(Code::subtract, -1);
    if (!take(')'))
      fail(at_,
           "')' is missing after the arguments of pulse, character " + std::to_string(start + 1));
  }

  Expression& to_;
  const Mechanism* mechanism_;
  std::vector<std::string>* used_;
  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int nesting_ = 0;
};

Expression::Expression(std::string_view text, const Mechanism* mechanism) : text_(text) {
  ExpressionParser(*this, mechanism).parse();
}

std::vector<std::string> Expression::names(std::string_view text, const Mechanism& mechanism) {
  Expression expression;
  expression.text_ = text;
  std::vector<std::string> used;
  ExpressionParser(expression, &mechanism, &used).parse();
  return used;
}

}  // namespace catena
