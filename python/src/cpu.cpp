// SPDX-License-Identifier: BSD-3-Clause
// The processor, and the kernels in use.
#include "catena/base/cpu.h"

#include "support/casters.h"

namespace catena::python {

void bind_cpu(py::module_& m) {
  py::class_<CpuReport>(m, "CpuReport", "What this processor and this build can do.")
      .def_readonly("processor", &CpuReport::processor, "As it names itself.")
      .def_readonly("hardware_threads", &CpuReport::hardware_threads, "Of the processor.")
      .def_readonly("available", &CpuReport::available, "Instruction sets usable here.")
      .def_readonly("built", &CpuReport::built, "Variants of the kernels in this build.")
      .def_readonly("used", &CpuReport::used, "The one in use.")
      .def("__repr__", [](const CpuReport& r) {
        return "<CpuReport " + r.processor + ", " + std::to_string(r.hardware_threads) +
               " threads, " + r.used + ">";
      });
  m.def("cpu_report", &cpu_report,
        "What `catena info --cpu` prints: the processor, and which kernels are used (the "
        "environment variable CATENA_ISA chooses others, for testing).");
}

}  // namespace catena::python
