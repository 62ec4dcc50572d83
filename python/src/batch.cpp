// SPDX-License-Identifier: BSD-3-Clause
// Many states at once: (B, n) arrays in and out, without copies where they are float64 in rows.
#include "catena/dynamics/batch.h"

#include <chrono>

#include "support/batch_arguments.h"

#include "catena/base/index.h"
#include "catena/closure/chart.h"
#include "catena/dynamics/given_acceleration.h"

namespace catena::python {
namespace {

struct PythonBatchWorkspace {
  PythonBatchWorkspace(MechanismPointer of, int threads)
      : mechanism(std::move(of)), workspace(*mechanism, {.threads = threads}) {}
  MechanismPointer mechanism;
  BatchWorkspace workspace;
  std::atomic<bool> busy{false};
};

// The workspace given, or one made for the call; refuses a second thread.
class BatchUse {
 public:
  BatchUse(const MechanismPointer& mechanism, PythonBatchWorkspace* given) : given_(given) {
    if (given_ == nullptr) {
      own_ = std::make_unique<PythonBatchWorkspace>(mechanism, 0);
      given_ = own_.get();
    }
    if (given_->mechanism != mechanism)
      throw Error("this BatchWorkspace was made for another mechanism");
    if (given_->busy.exchange(true, std::memory_order_acquire))
      throw Error("this BatchWorkspace is in use by another thread; give every thread its own");
  }
  ~BatchUse() { given_->busy.store(false, std::memory_order_release); }
  BatchUse(const BatchUse&) = delete;
  BatchUse& operator=(const BatchUse&) = delete;
  BatchWorkspace& workspace() { return given_->workspace; }

  // Raises if states failed in a workspace that the caller cannot ask.
  void finish() {
    if (own_ == nullptr || own_->workspace.failures() == 0) return;
    const auto reports = own_->workspace.reports();
    for (std::size_t i = 0; i < reports.size(); ++i)
      if (reports[i].status != BatchStatus::ok)
        throw NumericalError(std::to_string(own_->workspace.failures()) + " of " +
                             std::to_string(reports.size()) + " states failed; the first is " +
                             std::to_string(i) + ": " +
                             own_->workspace.message(static_cast<Eigen::Index>(i)) +
                             " (give a BatchWorkspace to have the others)");
  }

 private:
  std::unique_ptr<PythonBatchWorkspace> own_;
  PythonBatchWorkspace* given_;
};

// External wrenches of many states, from dictionaries as for one state, in which "force" and
// "moment" may also be (B, 3).
class BatchLoads {
 public:
  BatchLoads(const Wrenches& from, const Mechanism& mechanism, py::ssize_t states) {
    if (!from.given()) return;
    if (py::isinstance<py::dict>(from.value) || py::isinstance<ExternalWrench>(from.value))
      add(from.value, mechanism, states);
    else
      for (const py::handle entry : py::iter(from.value)) add(entry, mechanism, states);
    components_.resize(states, 6 * static_cast<Eigen::Index>(places_.size()));
    for (std::size_t k = 0; k < columns_.size(); ++k)
      components_.middleCols(3 * static_cast<Eigen::Index>(k), 3) = columns_[k];
    given_.emplace(places_, components_);
  }
  BatchLoads(const BatchLoads&) = delete;
  BatchLoads& operator=(const BatchLoads&) = delete;
  // Null: none.
  const BatchWrenches* get() const { return given_ ? &*given_ : nullptr; }

 private:
  void add(py::handle entry, const Mechanism& mechanism, py::ssize_t states) {
    py::object one = py::reinterpret_borrow<py::object>(entry);
    RowMatrix moment, force;
    if (py::isinstance<py::dict>(entry)) {
      py::dict rest = one.attr("copy")();
      moment = take(rest, "moment", states);
      force = take(rest, "force", states);
      one = std::move(rest);
    }
    const ExternalWrench wrench = read_wrenches({one}, mechanism).front();
    places_.push_back({wrench.body, wrench.point, wrench.axes});
    columns_.push_back(moment.size() > 0 ? moment : repeated(wrench.wrench.moment, states));
    columns_.push_back(force.size() > 0 ? force : repeated(wrench.wrench.force, states));
  }
  // What differs from state to state is taken out of the dictionary; empty: it does not.
  static RowMatrix take(py::dict& from, const char* key, py::ssize_t states) {
    if (!from.contains(key)) return {};
    const Array a = numbers(from[key]);
    if (a.ndim() == 1) return {};
    if (!has_shape(a, states, 3)) throw_shape(a, "(3,) or (" + std::to_string(states) + ", 3)");
    from.attr("pop")(key);
    return Eigen::Map<const RowMatrix>(a.data(), states, 3);
  }
  static RowMatrix repeated(const Vec3d& x, py::ssize_t states) {
    return Eigen::RowVector3d(x.x, x.y, x.z).replicate(states, 1);
  }

  std::vector<BatchWrenches::Place> places_;
  std::vector<RowMatrix> columns_;  // moment and force of each place
  RowMatrix components_;
  std::optional<BatchWrenches> given_;
};

const char* const kBatchExternal =
    "external: wrenches as in forward_dynamics; \"force\" and \"moment\" of a dictionary may also "
    "be "
    "(B, 3), a row for each state.";

// Accelerations of a closed mechanism that the caller gave (dynamics/given_acceleration.h): those
// that a dictionary names are made independent, and forward dynamics checks that they are met.
void make_given_independent(const Mechanism& mechanism, const BatchVector& given, const RowsMap& q,
                            BatchWorkspace& workspace) {
  if (mechanism.loops().empty() || !py::isinstance<py::dict>(given.value) || q.rows() == 0) return;
  const std::vector<std::uint8_t> mask = given_freedoms({given.value}, mechanism);
  if (std::find(mask.begin(), mask.end(), 0) == mask.end()) return;  // all are given
  if (!workspace.has_chart()) {
    workspace.set_chart(choose_chart(mechanism, q.row(0).transpose(), {.pinned = mask}));
    return;
  }
  for (const LoopChart& loop : workspace.chart().loops)
    for (const int i : loop.dependent)
      if (mask[index(i)] != 0)
        throw NumericalError("the acceleration of '" + mechanism.velocity_names()[index(i)] +
                             "' is given, but follows from others in the chart of this "
                             "BatchWorkspace; take another, or set_chart(choose_chart(mechanism, "
                             "q, pinned=[...]))");
}

void check_given(const Mechanism& mechanism, const BatchVector& given, const RowsMap& q,
                 const RowsMap& v, const RowsMap& acceleration, const MutableRowsMap& effort,
                 const BatchWorkspace& used, const BatchWrenches* external) {
  if (mechanism.loops().empty() || !given.given() || !used.has_chart()) return;
  const std::vector<std::uint8_t> mask = given_freedoms({given.value}, mechanism);
  RowMatrix found(q.rows(), mechanism.freedoms());
  {
    const py::gil_scoped_release release;
    BatchWorkspace workspace(mechanism, {.threads = used.threads()});
    workspace.set_chart(used.chart());
    batch_forward_dynamics(mechanism, q, v, effort, workspace, found, external);
  }
  for (Eigen::Index i = 0; i < found.rows(); ++i) {
    if (!found.row(i).allFinite() || !effort.row(i).allFinite()) continue;  // failed before
    try {
      check_given(mechanism, acceleration.row(i).transpose(), mask,
                  {found.row(i).data(), to_size(found.cols())});
    } catch (const NumericalError& e) {
      throw NumericalError("state " + std::to_string(i) + ": " + e.what());
    }
  }
}

using Call = void (*)(const Mechanism&, const BatchIn&, const BatchIn&, const BatchIn&,
                      BatchWorkspace&, BatchOut, const BatchWrenches*);

void bind_call(py::module_& m, const char* name, Call call, const char* input, const char* doc) {
  m.def(
      name,
      [call, input](const MechanismPointer& mechanism, const BatchVector& q, const BatchVector& v,
                    const BatchVector& given, PythonBatchWorkspace* workspace, const Out& out,
                    const Wrenches& external) {
        const int n = mechanism->freedoms();
        const Rows positions(q, -1, mechanism->coordinates(), "q");
        const Rows velocities(v, positions.states(), *mechanism, "v");
        const Rows inputs(given, positions.states(), *mechanism, input);
        const BatchLoads loads(external, *mechanism, positions.states());
        py::array_t<double> result = result_rows(out, positions.states(), n);
        BatchUse use(mechanism, workspace);
        {
          const RowsMap a = positions.map(), b = velocities.map(), c = inputs.map();
          MutableRowsMap y = map_of(result);
          const bool inverse = call == batch_inverse_dynamics;
          if (inverse) make_given_independent(*mechanism, given, a, use.workspace());
          {
            const py::gil_scoped_release release;
            call(*mechanism, a, b, c, use.workspace(), y, loads.get());
          }
          if (inverse) check_given(*mechanism, given, a, b, c, y, use.workspace(), loads.get());
        }
        use.finish();
        return result;
      },
      py::arg("mechanism"), py::arg("q"), py::arg("v") = py::none(), py::arg(input) = py::none(),
      py::arg("workspace") = py::none(), py::arg("out") = py::none(),
      py::arg("external") = py::none(), (std::string(doc) + "\n\n" + kBatchExternal).c_str());
}

}  // namespace

void bind_batch(py::module_& m) {
  using W = PythonBatchWorkspace;
  py::class_<W>(m, "BatchWorkspace",
                "Scratch memory for batches of any size. After a call it has the states that "
                "failed: their rows are NaN.\n\nthreads: 0: as many as the processor has.")
      .def(py::init<MechanismPointer, int>(), py::arg("mechanism"), py::arg("threads") = 0)
      .def_property_readonly(
          "mechanism", [](const W& w) { return w.mechanism; }, "The Mechanism it was made for.")
      .def_property_readonly(
          "threads", [](const W& w) { return w.workspace.threads(); }, "How many it uses.")
      .def_property_readonly(
          "lanes", [](const W& w) { return w.workspace.lanes(); }, "States in a SIMD pack.")
      .def_property_readonly(
          "failures", [](const W& w) { return static_cast<std::int64_t>(w.workspace.failures()); },
          "Of the last call: how many states.")
      .def_property_readonly(
          "failed", [](const W& w) { return failed_states(w.workspace); },
          "(B,), bool, of the last call.")
      .def(
          "message",
          [](const W& w, std::int64_t state) { return state_message(w.workspace, state); },
          py::arg("state"), "What is wrong with a state, in a sentence; empty: nothing.")
      .def(
          "set_chart",
          [](W& w, const Chart& chart, bool pinned) { w.workspace.set_chart(chart, pinned); },
          py::arg("chart"), py::arg("pinned") = false, "As in Workspace.")
      .def_property_readonly(
          "independent", [](const W& w) { return w.workspace.independent(); },
          "list of int: independent freedoms, indices into v.");
  bind_call(
      m, "batch_forward_dynamics", batch_forward_dynamics, "effort",
      "The accelerations (B, freedoms) of B states: q (B, coordinates), v and effort (B, "
      "freedoms), None: zeros. Forward dynamics (ABA). A row depends on its own state alone, to "
      "the bit, for any number of threads. States that cannot be evaluated have NaN in their rows, "
      "and the workspace has the reason; without a workspace they raise NumericalError.");
  bind_call(m, "batch_inverse_dynamics", batch_inverse_dynamics, "acceleration",
            "The efforts (B, freedoms) of B states with given accelerations (RNEA); as "
            "batch_forward_dynamics.");
  m.def(
      "_time_batch_forward_dynamics",
      [](const MechanismPointer& mechanism, const BatchVector& q, const BatchVector& v,
         const BatchVector& effort, PythonBatchWorkspace* workspace, const Out& out) {
        const int n = mechanism->freedoms();
        const Rows a(q, -1, mechanism->coordinates(), "q"), b(v, a.states(), n, "v"),
            c(effort, a.states(), n, "effort");
        py::array_t<double> result = result_rows(out, a.states(), n);
        BatchUse use(mechanism, workspace);
        MutableRowsMap y = map_of(result);
        const auto start = std::chrono::steady_clock::now();
        batch_forward_dynamics(*mechanism, a.map(), b.map(), c.map(), use.workspace(), y);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      },
      py::arg("mechanism"), py::arg("q"), py::arg("v"), py::arg("effort"), py::arg("workspace"),
      py::arg("out"), "Seconds in C++, for the benchmark of the bindings.");
  m.def(
      "batch_hybrid_dynamics",
      [](const MechanismPointer& mechanism, const BatchVector& q, const BatchVector& v,
         const Freedoms& motion_driven, const BatchVector& effort, const BatchVector& acceleration,
         PythonBatchWorkspace* workspace, const Wrenches& external) {
        const int n = mechanism->freedoms();
        const Rows positions(q, -1, mechanism->coordinates(), "q");
        const py::ssize_t states = positions.states();
        const Rows velocities(v, states, *mechanism, "v"),
            efforts(effort, states, *mechanism, "effort"),
            accelerations(acceleration, states, *mechanism, "acceleration");
        std::vector<std::uint8_t> mask = read_mask(motion_driven, *mechanism);
        mask.resize(to_size(n), 0);
        const BatchLoads loads(external, *mechanism, states);
        py::array_t<double> found_a({states, static_cast<py::ssize_t>(n)});
        py::array_t<double> found_e({states, static_cast<py::ssize_t>(n)});
        BatchUse use(mechanism, workspace);
        {
          const RowsMap a = positions.map(), b = velocities.map();
          const BatchHybridInput input{mask, efforts.map(), accelerations.map()};
          MutableRowsMap y = map_of(found_a), z = map_of(found_e);
          const py::gil_scoped_release release;
          batch_hybrid_dynamics(*mechanism, a, b, input, use.workspace(), y, z, loads.get());
        }
        use.finish();
        return std::make_pair(found_a, found_e);
      },
      py::arg("mechanism"), py::arg("q"), py::arg("v"), py::arg("motion_driven"),
      py::arg("effort") = py::none(), py::arg("acceleration") = py::none(),
      py::arg("workspace") = py::none(), py::arg("external") = py::none(),
      (std::string(
           "(accelerations, efforts), each (B, freedoms). The same freedoms are motion-driven "
           "in all states.\n\n") +
       kBatchExternal)
          .c_str());
  m.def(
      "batch_mass_matrix",
      [](const MechanismPointer& mechanism, const BatchVector& q, PythonBatchWorkspace* workspace) {
        const Rows positions(q, -1, mechanism->coordinates(), "q");
        const py::ssize_t states = positions.states();
        BatchUse use(mechanism, workspace);
        LaneArray triangles;
        {
          const RowsMap a = positions.map();
          const py::gil_scoped_release release;
          batch_mass_matrix(*mechanism, a, use.workspace(), triangles);
        }
        use.finish();
        // n (n + 1) / 2 numbers of each state.
        py::ssize_t n = 0;
        while (triangle_size(n) < triangles.count()) ++n;
        py::array_t<double> result({states, n, n});
        double* y = result.mutable_data();
        const py::gil_scoped_release release;
        for (py::ssize_t s = 0; s < states; ++s)
          for (py::ssize_t i = 0; i < n; ++i)
            for (py::ssize_t j = 0; j < n; ++j) *y++ = triangles(s, triangle_index(i, j));
        return result;
      },
      py::arg("mechanism"), py::arg("q"), py::arg("workspace") = py::none(),
      "Mass matrices (B, n, n) of B positions (CRBA); n are the freedoms, of a closed mechanism "
      "the independent ones.");
  m.def(
      "batch_kinematics",
      [](const MechanismPointer& mechanism, const BatchVector& q, const BatchVector& v,
         PythonBatchWorkspace* workspace) {
        const Rows positions(q, -1, mechanism->coordinates(), "q");
        const py::ssize_t states = positions.states();
        const Rows velocities(v, states, *mechanism, "v");
        const py::ssize_t bodies = static_cast<py::ssize_t>(mechanism->bodies().size());
        py::array_t<double> rows({states, bodies * 12}), twists({states, bodies * 6});
        BatchUse use(mechanism, workspace);
        {
          const RowsMap a = positions.map(), b = velocities.map();
          MutableRowsMap y = map_of(rows), z = map_of(twists);
          const py::gil_scoped_release release;
          batch_kinematics(*mechanism, a, b, use.workspace(), y, z);
        }
        use.finish();
        py::array_t<double> poses({states, bodies, py::ssize_t{4}, py::ssize_t{4}});
        const double* from = rows.data();
        double* to = poses.mutable_data();
        std::optional<py::gil_scoped_release> release(std::in_place);
        for (py::ssize_t k = 0; k < states * bodies; ++k, from += 12, to += 16) {
          for (int i = 0; i < 3; ++i) {
            std::copy(from + 3 * i, from + 3 * i + 3, to + 4 * i);
            to[4 * i + 3] = from[9 + i];
            to[12 + i] = 0.0;
          }
          to[15] = 1.0;
        }
        release.reset();
        return std::make_pair(
            poses, py::array_t<double>(twists.reshape({states, bodies, py::ssize_t{6}})));
      },
      py::arg("mechanism"), py::arg("q"), py::arg("v") = py::none(),
      py::arg("workspace") = py::none(),
      "(poses (B, bodies, 4, 4), twists (B, bodies, 6)): X_ground_body of every body and the twist "
      "about its origin in its own axes.");
}

}  // namespace catena::python
