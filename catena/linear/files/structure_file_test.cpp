// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/files/structure_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/base/testing/temporary_folder.h"
#include "catena/linear/files/matrix_market.h"
#include "catena/linear/testing/lattice_boom.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using ::testing::HasSubstr;

class StructureFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string written(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  static std::string message(const std::string& file) {
    try {
      load_structure(file);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  test::TemporaryFolder folder_;
};

TEST_F(StructureFile, ReadsBackTheSameNumbers) {
  const SecondOrder boom = test::lattice_boom({.bays = 5, .side = 2});
  for (const char* name : {"boom.yaml", "boom.h5"}) {
    save_structure(boom, path(name));
    EXPECT_TRUE(is_structure_file(path(name)));
    const SecondOrder again = load_structure(path(name));
    EXPECT_EQ((again.M - boom.M).norm(), 0.0) << name;
    EXPECT_EQ((again.D - boom.D).norm(), 0.0) << name;
    EXPECT_EQ((again.K - boom.K).norm(), 0.0) << name;
    EXPECT_EQ(again.B, boom.B) << name;
    EXPECT_EQ(again.Cq, boom.Cq) << name;
    EXPECT_EQ(again.Cv.size(), 0) << name;
    EXPECT_EQ(again.inputs, boom.inputs) << name;
    EXPECT_EQ(again.outputs, boom.outputs) << name;
  }
}

TEST_F(StructureFile, RowsAndMatrixMarketByHand) {
  written("k.mtx",
          "%%MatrixMarket matrix coordinate real symmetric\n% a remark\n2 2 3\n1 1 3\n2 1 -1\n2 2 "
          "1e0\n");
  written("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n0\n2.5\n");
  const SecondOrder s = load_structure(
      written("s.yaml", "structure: 1\nM: [[2, 0], [0, 1]]\nK: k.mtx\nB: b.mtx\nCq: [[1, 0]]\n"));
  EXPECT_EQ(MatrixXd(s.K), (MatrixXd(2, 2) << 3, -1, -1, 1).finished());
  EXPECT_EQ(MatrixXd(s.M), (MatrixXd(2, 2) << 2, 0, 0, 1).finished());
  EXPECT_EQ(s.B, (MatrixXd(2, 1) << 0, 2.5).finished());
  EXPECT_EQ(s.output_count(), 1);
}

TEST_F(StructureFile, MistakesNameFileAndLine) {
  written("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n3 1 1\n");
  const std::string rest = "\nM: [[1, 0], [0, 1]]\nB: [[1], [0]]\nCq: [[1, 0]]\n";
  EXPECT_THAT(message(written("a.yaml", "K: bad.mtx" + rest)),
              ::testing::AllOf(HasSubstr("bad.mtx:4"), HasSubstr("(3, 1) is outside")));
  EXPECT_THAT(message(written("b.yaml", "K: missing.mtx" + rest)),
              ::testing::AllOf(HasSubstr("b.yaml:1"), HasSubstr("missing.mtx")));
  written("short.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n");
  EXPECT_THAT(message(written("c.yaml", "K: short.mtx" + rest)), HasSubstr("the file ends"));
  written("nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n");
  EXPECT_THAT(message(written("d.yaml", "K: nan.mtx" + rest)), HasSubstr("not a finite number"));
  EXPECT_THAT(message(written("e.yaml", "structure: 1" + rest)), HasSubstr("a structure needs K"));
  EXPECT_THAT(message(written("f.yaml", "K: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]" + rest)),
              HasSubstr("K is 3 x 3; it must be 2 x 2"));
  written("text.mtx", "2 2 1\n1 1 1\n");
  EXPECT_THAT(message(written("g.yaml", "K: text.mtx" + rest)), HasSubstr("%%MatrixMarket"));
  EXPECT_THAT(message(path("none.h5")), HasSubstr("no such file"));
  EXPECT_FALSE(is_structure_file(path("none.h5")));
  EXPECT_FALSE(is_structure_file(written("h.yaml", "A: [[1]]\nB: [[1]]\nC: [[1]]\n")));
}

}  // namespace
}  // namespace catena
