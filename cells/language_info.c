/*
 * The language is "cuda-cpp" because VS Code highlights cells by that name; the
 * MIME type is C++'s because that is the one JupyterLab has a mode for; Pygments
 * (nbconvert, the console) has a lexer for CUDA itself.
 */
#include "cells/language_info.h"

#include "model/base/version.h"

json_t *language_info(void)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", "cuda-cpp", "version",
                     WARPBOOK_CUDA_VERSION, "mimetype", "text/x-c++src", "codemirror_mode",
                     "text/x-c++src", "pygments_lexer", "cuda", "file_extension", ".cu");
}
