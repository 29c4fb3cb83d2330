/* What tools ask about the language of a notebook's cells. */
#ifndef WB_CELLS_LANGUAGE_INFO_H
#define WB_CELLS_LANGUAGE_INFO_H

#include <jansson.h>

/* language_info of kernel_info_reply and of a saved notebook. NULL: out of memory. */
json_t *language_info(void);

#endif
