/*
 * The floor of an HTTP server: level-triggered epoll, one recv and one send an event, and for each blank line in what was received
 * the same answer. Nothing is parsed, nothing can be late, and a request must not be cut in two, which a load generator on the same
 * machine does not do. Listens on a free port of the loopback interface, says which, and serves until it is killed.
 */
#define _GNU_SOURCE
#include "listen.h"

#include <string.h>

enum { EVENTS = 512, BUFFER_BYTES = 65536, MOST_AT_ONCE = 256 };

static const char ANSWER[] =
    "HTTP/1.1 200 OK\r\n"
    "Server: floor\r\n"
    "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 13\r\n"
    "\r\n"
    "Hello, World!";

static int requests_in(const char *bytes, ssize_t length) {
    int count = 0;
    const char *end = bytes + length;
    while ((bytes = memmem(bytes, end - bytes, "\r\n\r\n", 4)) != NULL) {
        count++;
        bytes += 4;
    }
    return count;
}

/* Returns whether the connection goes on. */
static int serve(int fd, char *buffer, const char *answers) {
    ssize_t received = recv(fd, buffer, BUFFER_BYTES, 0);
    if (received <= 0) return 0;
    int count = requests_in(buffer, received);
    if (count == 0 || count > MOST_AT_ONCE) return 0;
    ssize_t length = count * (sizeof ANSWER - 1);
    return send(fd, answers, length, MSG_NOSIGNAL) == length;
}

int main(void) {
    static char buffer[BUFFER_BYTES];
    static char answers[MOST_AT_ONCE * (sizeof ANSWER - 1)];
    struct epoll_event events[EVENTS];
    for (int i = 0; i < MOST_AT_ONCE; i++) memcpy(answers + i * (sizeof ANSWER - 1), ANSWER, sizeof ANSWER - 1);
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    if (epfd < 0) die("epoll_create1");
    int listener = listen_anywhere(SOCK_NONBLOCK | SOCK_CLOEXEC);
    watch_input(epfd, listener);
    for (;;) {
        int count = epoll_wait(epfd, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                accept_all(epfd, listener);
            } else if (!serve(fd, buffer, answers)) {
                close(fd);
            }
        }
    }
}
