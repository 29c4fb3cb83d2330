/*
 * Layouts of the structs that cells define.
 */
#include "cells/buffer_struct.h"

#include "cells/internal.h"

const struct struct_member *struct_member_find(const struct struct_layout *layout, const char *name)
{
    for (size_t i = 0; layout && i < layout->count; i++)
        if (strcmp(layout->members[i].name, name) == 0)
            return &layout->members[i];
    return NULL;
}

int element_type_copy(struct arena *arena, const struct element_type *from, struct element_type *to,
                      struct err *err)
{
    struct struct_layout *layout;
    struct struct_member *members;

    *to = *from;
    to->name = arena_string(arena, from->name);
    if (!to->name)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (!from->layout)
        return 0;
    layout = arena_alloc(arena, sizeof(*layout));
    members = arena_array(arena, from->layout->count, sizeof(*members));
    if (!layout || !members)
        return err_set(err, ERR_ResourceError, "out of memory");
    *layout = *from->layout;
    layout->members = members;
    to->layout = layout;
    for (size_t i = 0; i < layout->count; i++) {
        members[i] = from->layout->members[i];
        members[i].name = arena_string(arena, members[i].name);
        if (!members[i].name)
            return err_set(err, ERR_ResourceError, "out of memory");
        if (element_type_copy(arena, &from->layout->members[i].type, &members[i].type, err) < 0)
            return -1;
    }
    return 0;
}

int struct_type_find(struct session *session, const char *name, struct element_type *out,
                     struct err *err)
{
    (void)session;
    (void)name;
    (void)out;
    (void)err;
    return -1;
}
