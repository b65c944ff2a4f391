/*
 * The load on an echo server: connections over loopback, each with one message of 64 bytes in
 * flight. Every echo is compared with what was sent, byte by byte, and answered by the next message.
 * No two messages are the same, so that an echo that went to the wrong connection, or came twice,
 * shows.
 *
 *     echo-load PORT PID CONNECTIONS WARM-UPS MESSAGES
 *
 * PID is the server's. Prints what happened while MESSAGES were echoed, in nanoseconds: the CPU time
 * that the server used, all its threads together; the time that went by; the CPU time that others
 * used of the cores that the server and this program are confined to.
 *
 * They begin when WARM-UPS have been echoed and the next are under way, and end while as many are:
 * neither an empty beginning nor an empty end is counted.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 64, WORDS = MESSAGE_BYTES / 8, EVENTS = 512, MAX_CONNECTIONS = 10000, PATIENCE_MILLIS = 10000 };

struct connection {
    int fd;
    int received;
    uint64_t number, sequence;
    uint64_t sent[WORDS];
    /* A byte more than was sent: a server that makes bytes up is found out. */
    unsigned char echoed[MESSAGE_BYTES + 1];
};

static long warm_ups, messages, echoes;
static int in_flight;
static clockid_t server_clock;
static cpu_set_t cores;

struct reading {
    int64_t server, own, wall, busy;
};
static struct reading begun, ended;

static void die(const char *call) {
    fprintf(stderr, "echo-load: %s: %s, after %ld echoes\n", call, strerror(errno), echoes);
    exit(1);
}

static void fail(const char *what, const struct connection *connection) {
    fprintf(stderr, "echo-load: %s: connection %llu, its message %llu, after %ld echoes\n", what,
            (unsigned long long) connection->number, (unsigned long long) connection->sequence, echoes);
    exit(1);
}

static long number(const char *text, long least, long most) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || value < least || value > most) {
        fprintf(stderr, "echo-load: %s is no number from %ld to %ld\n", text, least, most);
        exit(2);
    }
    return value;
}

static int64_t nanos(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) < 0) die("clock_gettime");
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int connect_to(int port) {
    static const int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) die("socket");
    if (connect(fd, (struct sockaddr *) &address, sizeof address) < 0) die("connect");
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) die("setsockopt");
    return fd;
}

static void send_next(struct connection *connection) {
    connection->sequence++;
    connection->received = 0;
    connection->sent[0] = connection->number;
    connection->sent[1] = connection->sequence;
    uint64_t random = connection->number << 40 ^ connection->sequence;
    for (int i = 2; i < WORDS; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        connection->sent[i] = random;
    }
    if (send(connection->fd, connection->sent, MESSAGE_BYTES, MSG_NOSIGNAL | MSG_DONTWAIT) != MESSAGE_BYTES) die("send");
    in_flight++;
}

/* Tells whether the whole message is there. */
static int receive(struct connection *connection) {
    ssize_t received = recv(connection->fd, connection->echoed + connection->received,
                            sizeof connection->echoed - connection->received, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (received < 0) die("recv");
    if (received == 0) fail("the server closed the connection", connection);
    connection->received += (int) received;
    if (connection->received < MESSAGE_BYTES) return 0;
    if (connection->received > MESSAGE_BYTES) fail("more came back than was sent", connection);
    if (memcmp(connection->sent, connection->echoed, MESSAGE_BYTES)) fail("something else came back", connection);
    in_flight--;
    return 1;
}

/* What all use of the cores, the hypervisor's other guests too, to a hundredth of a second. */
static int64_t busy_nanos(void) {
    char line[512];
    int core;
    int64_t ticks = 0;
    long long user, nice, system, idle, iowait, irq, softirq, steal;
    FILE *stat = fopen("/proc/stat", "r");
    if (!stat) die("/proc/stat");
    while (fgets(line, sizeof line, stat)) {
        if (sscanf(line, "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &core, &user, &nice, &system, &idle, &iowait, &irq,
                   &softirq, &steal) == 9 && core < CPU_SETSIZE && CPU_ISSET(core, &cores)) {
            ticks += user + nice + system + irq + softirq + steal;
        }
    }
    fclose(stat);
    return ticks * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

static void find_cores(pid_t server) {
    cpu_set_t own;
    if (sched_getaffinity(server, sizeof cores, &cores) < 0 || sched_getaffinity(0, sizeof own, &own) < 0) {
        die("sched_getaffinity");
    }
    CPU_OR(&cores, &cores, &own);
}

static struct reading read_clocks(void) {
    return (struct reading){.server = nanos(server_clock),
                            .own = nanos(CLOCK_PROCESS_CPUTIME_ID),
                            .wall = nanos(CLOCK_MONOTONIC),
                            .busy = busy_nanos()};
}

static void look_at_the_clocks(void) {
    if (echoes == warm_ups) begun = read_clocks();
    if (echoes == warm_ups + messages) ended = read_clocks();
}

static void print_difference(void) {
    int64_t server = ended.server - begun.server;
    int64_t others = ended.busy - begun.busy - server - (ended.own - begun.own);
    /* The clocks of /proc/stat are coarse. */
    if (others < 0) others = 0;
    printf("%lld %lld %lld\n", (long long) server, (long long) (ended.wall - begun.wall), (long long) others);
}

static void exchange(int epfd) {
    struct epoll_event events[EVENTS];
    /* What is in flight at the end comes back too: a server is left with nothing half done. */
    while (in_flight > 0) {
        int count = epoll_wait(epfd, events, EVENTS, PATIENCE_MILLIS);
        if (count < 0 && errno != EINTR) die("epoll_wait");
        if (count == 0) {
            errno = ETIMEDOUT;
            die("the server has gone silent");
        }
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(connection)) continue;
            echoes++;
            look_at_the_clocks();
            if (echoes < warm_ups + messages) send_next(connection);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: echo-load PORT PID CONNECTIONS WARM-UPS MESSAGES\n");
        return 2;
    }
    int port = (int) number(argv[1], 1, 65535);
    pid_t server = (pid_t) number(argv[2], 1, INT32_MAX);
    int connections = (int) number(argv[3], 1, MAX_CONNECTIONS);
    warm_ups = number(argv[4], 0, INT32_MAX);
    messages = number(argv[5], 1, INT32_MAX);
    /* What utime and stime of /proc/PID/stat add up to; but those are in hundredths of a second. */
    if ((errno = clock_getcpuclockid(server, &server_clock))) die("clock_getcpuclockid");

    find_cores(server);

    struct connection *all = calloc(connections, sizeof *all);
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    if (!all || epfd < 0) die("epoll_create1");
    for (int i = 0; i < connections; i++) {
        all[i].fd = connect_to(port);
        all[i].number = i;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        if (epoll_ctl(epfd, EPOLL_CTL_ADD, all[i].fd, &event) < 0) die("epoll_ctl");
    }
    look_at_the_clocks();
    for (int i = 0; i < connections; i++) send_next(&all[i]);
    exchange(epfd);
    print_difference();
    return 0;
}
