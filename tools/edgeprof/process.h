/* SPDX-License-Identifier: BSD-2-Clause */
/* The process itself: its standard descriptors, and what it does when a signal ends it. */
#ifndef EP_TOOLS_PROCESS_H
#define EP_TOOLS_PROCESS_H

/*
 * To be called first. Takes the numbers of standard descriptors that are closed, so that no file
 * gets one of them and a message or a program's output never lands in it. Signals that end the
 * process first remove its temporary files. An input that another process cuts short while it is
 * mapped (SIGBUS) ends it with EP_EXIT_BAD and a message.
 */
void ep_process_init(void);

#endif
