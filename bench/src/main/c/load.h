/*
 * What the load generators have in common: numbers from the command line, a connection over
 * loopback, and the clocks of the process that is measured. The file that includes this says
 * what it is called: LOAD.
 */
#ifndef GYRE_BENCH_LOAD_H
#define GYRE_BENCH_LOAD_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PROCESSES = 8, PATIENCE_MILLIS = 10000 };

static inline void die(const char *call) {
    fprintf(stderr, LOAD ": %s: %s\n", call, strerror(errno));
    exit(1);
}

static inline void fail(const char *what) {
    fprintf(stderr, LOAD ": %s\n", what);
    exit(1);
}

static inline long long number(const char *text, long long least, long long most) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end != 0 || value < least || value > most) {
        fprintf(stderr, LOAD ": %s is no number from %lld to %lld\n", text, least, most);
        exit(2);
    }
    return value;
}

static inline int64_t nanos(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) < 0) die("clock_gettime");
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int connect_to(int port) {
    static const int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) die("socket");
    if (connect(fd, (struct sockaddr *) &address, sizeof address) < 0) die("connect");
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) die("setsockopt");
    return fd;
}

/*
 * The processes of a measurement: the first is the one that is measured; what the rest use, such as
 * a proxy's target, is neither its doing nor that of others.
 */
static struct {
    int count;
    clockid_t clocks[MAX_PROCESSES];
    cpu_set_t cores;
} processes;

struct reading {
    int64_t measured, known, wall, busy;
};

/* From PID[,PID...]. */
static inline void find_processes(char *pids) {
    if (sched_getaffinity(0, sizeof processes.cores, &processes.cores) < 0) die("sched_getaffinity");
    for (char *pid = strtok(pids, ","); pid; pid = strtok(NULL, ",")) {
        cpu_set_t cores;
        pid_t process = (pid_t) number(pid, 1, INT32_MAX);
        if (processes.count == MAX_PROCESSES) fail("too many processes");
        /* What utime and stime of /proc/PID/stat add up to; but those are in hundredths of a second. */
        if ((errno = clock_getcpuclockid(process, &processes.clocks[processes.count++]))) die("clock_getcpuclockid");
        if (sched_getaffinity(process, sizeof cores, &cores) < 0) die("sched_getaffinity");
        CPU_OR(&processes.cores, &processes.cores, &cores);
    }
    if (processes.count == 0) fail("no process to measure");
}

/* What all use of the cores, the hypervisor's other guests too, to a hundredth of a second. */
static inline int64_t busy_nanos(void) {
    char line[512];
    int core;
    int64_t ticks = 0;
    long long user, nice, system, idle, iowait, irq, softirq, steal;
    FILE *stat = fopen("/proc/stat", "r");
    if (!stat) die("/proc/stat");
    while (fgets(line, sizeof line, stat)) {
        if (sscanf(line, "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &core, &user, &nice, &system, &idle, &iowait, &irq,
                   &softirq, &steal) == 9 && core < CPU_SETSIZE && CPU_ISSET(core, &processes.cores)) {
            ticks += user + nice + system + irq + softirq + steal;
        }
    }
    fclose(stat);
    return ticks * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

static inline struct reading read_clocks(void) {
    struct reading reading = {.measured = nanos(processes.clocks[0]), .known = nanos(CLOCK_PROCESS_CPUTIME_ID)};
    for (int i = 0; i < processes.count; i++) reading.known += nanos(processes.clocks[i]);
    reading.wall = nanos(CLOCK_MONOTONIC);
    reading.busy = busy_nanos();
    return reading;
}

/*
 * The same while the measured process has nothing to do. What another process has used is known as
 * of when it last went to sleep, or as of the last tick of the clock: so it is given the time to fall
 * asleep. That is not in the reading.
 */
static inline struct reading read_clocks_at_rest(void) {
    static const struct timespec rest = {.tv_nsec = 2000000};
    int64_t wall = nanos(CLOCK_MONOTONIC);
    nanosleep(&rest, NULL);
    struct reading reading = read_clocks();
    reading.wall = wall;
    return reading;
}

static inline int64_t others_nanos(struct reading begun, struct reading ended) {
    int64_t others = ended.busy - begun.busy - (ended.known - begun.known);
    /* The clocks of /proc/stat are coarse. */
    return others < 0 ? 0 : others;
}

/*
 * In nanoseconds: the CPU time that the measured process used, all its threads together; the time
 * that went by; the CPU time that others used of the cores.
 */
static inline void print_difference(struct reading begun, struct reading ended) {
    printf("%lld %lld %lld\n", (long long) (ended.measured - begun.measured), (long long) (ended.wall - begun.wall),
           (long long) others_nanos(begun, ended));
}

#endif
