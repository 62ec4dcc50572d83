# cmake -D IN=<text> -D OUT=<x.cpp> -D HEADER=<header> -D NAME=<name> -P EmbedText.cmake
#
# A source file that defines `const std::string_view <NAME>` of namespace catena::app with the text.
file(READ ${IN} text)
string(FIND "${text}" ")catena~\"" end)
if(NOT end LESS 0)
  message(FATAL_ERROR "${IN} contains the mark that ends a raw string")
endif()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nnamespace catena::app {\n"
  "const std::string_view ${NAME} = R\"catena~(" "${text}" ")catena~\";\n}\n")
