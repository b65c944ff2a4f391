/*
 * Listens on a free port of the loopback interface, says which, and becomes a program that cannot
 * say so itself. That finds the socket under the number in the environment variable LISTENING_FD.
 *
 *     listening-exec PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include "listen.h"

#include <fcntl.h>

int main(int argc, char **argv) {
    char text[16];
    if (argc < 2) {
        fprintf(stderr, "usage: listening-exec PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    int fd = listen_anywhere(0);
    snprintf(text, sizeof text, "%d", fd);
    if (setenv("LISTENING_FD", text, 1) < 0) die("setenv");
    /* The first line was ours, and nobody reads on: what else there is goes where complaints go. */
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) die("dup2");
    execvp(argv[1], argv + 1);
    die(argv[1]);
}
