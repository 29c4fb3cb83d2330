/*
 * Where the compiler keeps its precompiled headers: a folder of this process, 7 MB a set, which
 * ends with it.
 */
#ifndef WB_KERNELS_PCH_FOLDER_H
#define WB_KERNELS_PCH_FOLDER_H

/*
 * The folder, made on the first call below $TMPDIR or /tmp; removed when the process exits, and
 * what processes that were killed left behind is removed now. "" when none can be made. Static.
 */
const char *pch_folder(void);

/* Removes the folders of this user's processes that are gone: a killed child cleans up nothing. */
void pch_folder_clean(void);

#endif
