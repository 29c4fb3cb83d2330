/*
 * JEP 66: the client names an address, the kernel chooses its ports and reports
 * them there, so that nobody can take a port between choosing and binding.
 */
#ifndef WB_JUPYTER_REGISTRATION_H
#define WB_JUPYTER_REGISTRATION_H

#include "jupyter-kernel/connection.h"
#include "jupyter-kernel/wire.h"

/*
 * Reports the ports and waits for the acknowledgement. Fails with Timeout after 5 s
 * without one, BadMessage when it is not signed with the key.
 */
int registration_report(const struct connection *connection, struct wire_key *key,
                        struct err *err) MUST_CHECK;

#endif
