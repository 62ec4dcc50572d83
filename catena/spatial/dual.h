// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; model/hinge.h needs it.
//
// Dual: a number with N directional derivatives, x + Σ ε_k ẋ_k with ε_i ε_j = 0.
//
// Running a kernel on dual numbers gives its exact derivatives along N directions. Value may be
// double, a Pack (derivatives of several states at once) or a Dual itself (second derivatives).
// Comparisons look at the value only.
#pragma once

#include "catena/spatial/scalar.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Value = double, int N = 1>
struct Dual {
  Value value{};
  Value derivative[N]{};

  Dual() = default;
  Dual(double constant) : value(constant) {  // NOLINT: a constant has no derivative
    for (Value& d : derivative) d = Value(0.0);
  }
  // A variable with derivative 1 along the given direction.
  static Dual variable(const Value& value, int direction) {
    Dual x(0.0);
    x.value = value;
    x.derivative[direction] = Value(1.0);
    return x;
  }

  // f(value) with outer derivative slope.
  Dual chain(const Value& f, const Value& slope) const {
    Dual y;
    y.value = f;
    for (int k = 0; k < N; ++k) y.derivative[k] = slope * derivative[k];
    return y;
  }

  friend Dual operator+(const Dual& a, const Dual& b) {
    Dual y;
    y.value = a.value + b.value;
    for (int k = 0; k < N; ++k) y.derivative[k] = a.derivative[k] + b.derivative[k];
    return y;
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    Dual y;
    y.value = a.value - b.value;
    for (int k = 0; k < N; ++k) y.derivative[k] = a.derivative[k] - b.derivative[k];
    return y;
  }
  friend Dual operator-(const Dual& a) {
    Dual y;
    y.value = -a.value;
    for (int k = 0; k < N; ++k) y.derivative[k] = -a.derivative[k];
    return y;
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual y;
    y.value = a.value * b.value;
    for (int k = 0; k < N; ++k)
      y.derivative[k] = a.derivative[k] * b.value + a.value * b.derivative[k];
    return y;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const Value inverse = Value(1.0) / b.value;
    Dual y;
    y.value = a.value / b.value;  // to the bit what plain numbers give
    for (int k = 0; k < N; ++k)
      y.derivative[k] = (a.derivative[k] - y.value * b.derivative[k]) * inverse;
    return y;
  }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  Dual& operator/=(const Dual& b) { return *this = *this / b; }

  friend auto operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend auto operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend auto operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend auto operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
};

template <class Value, int N>
inline Dual<Value, N> select(const auto& mask, const Dual<Value, N>& a, const Dual<Value, N>& b) {
  Dual<Value, N> y;
  y.value = select(mask, a.value, b.value);
  for (int k = 0; k < N; ++k) y.derivative[k] = select(mask, a.derivative[k], b.derivative[k]);
  return y;
}

template <class Value, int N>
inline Dual<Value, N> sqrt(const Dual<Value, N>& a) {
  using std::sqrt;
  const Value root = sqrt(a.value);
  return a.chain(root, Value(0.5) / root);
}

template <class Value, int N>
inline SinCos<Dual<Value, N>> sincos(const Dual<Value, N>& a) {
  const SinCos<Value> v = sincos(a.value);
  return {a.chain(v.sin, v.cos), a.chain(v.cos, -v.sin)};
}
template <class Value, int N>
inline Dual<Value, N> sin(const Dual<Value, N>& a) {
  return sincos(a).sin;
}
template <class Value, int N>
inline Dual<Value, N> cos(const Dual<Value, N>& a) {
  return sincos(a).cos;
}

template <class Value, int N>
inline Dual<Value, N> exp(const Dual<Value, N>& a) {
  using std::exp;
  const Value e = exp(a.value);
  return a.chain(e, e);
}

template <class Value, int N>
inline Dual<Value, N> tanh(const Dual<Value, N>& a) {
  using std::tanh;
  const Value t = tanh(a.value);
  return a.chain(t, Value(1.0) - t * t);
}

template <class Value, int N>
inline Dual<Value, N> atan2(const Dual<Value, N>& y, const Dual<Value, N>& x) {
  using std::atan2;
  const Value inverse = Value(1.0) / (x.value * x.value + y.value * y.value);
  Dual<Value, N> a;
  a.value = atan2(y.value, x.value);
  for (int k = 0; k < N; ++k)
    a.derivative[k] = (x.value * y.derivative[k] - y.value * x.derivative[k]) * inverse;
  return a;
}

template <class Value, int N>
inline Dual<Value, N> abs(const Dual<Value, N>& a) {
  return select(a.value < Value(0.0), -a, a);
}

}  // namespace CATENA_ISA
}  // namespace catena
