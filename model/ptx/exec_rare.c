/*
 * The lane loops of rare.def: a lane at a time, for every processor.
 */
#include "model/ptx/internal.h"

#define OPS_FILE      "model/ptx/rare.def"
#define OPS_TABLE     OPS_RARE
#define OPS_IS_SPARSE 1

#include "model/ptx/lanes.h"
