package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/// Checks every constant and layout of [Linux], [IoUring] and [Errno] against the C compiler.
class ConstantsTest {
    /// The C expressions of sizes and offsets whose names are Gyre's own.
    private static final String LAYOUTS =
            """
            SIZEOF_EPOLL_EVENT                 sizeof(struct epoll_event)
            OFFSETOF_EPOLL_EVENT_EVENTS        offsetof(struct epoll_event, events)
            OFFSETOF_EPOLL_EVENT_DATA          offsetof(struct epoll_event, data)
            SIZEOF_TIMESPEC                    sizeof(struct timespec)
            OFFSETOF_TIMESPEC_NANOS            offsetof(struct timespec, tv_nsec)
            SIZEOF_ITIMERSPEC                  sizeof(struct itimerspec)
            OFFSETOF_ITIMERSPEC_VALUE          offsetof(struct itimerspec, it_value)
            SIZEOF_RLIMIT                      sizeof(struct rlimit)
            SIZEOF_IO_URING_PARAMS                      sizeof(struct io_uring_params)
            OFFSETOF_IO_URING_PARAMS_SQ_ENTRIES         offsetof(struct io_uring_params, sq_entries)
            OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES         offsetof(struct io_uring_params, cq_entries)
            OFFSETOF_IO_URING_PARAMS_FLAGS              offsetof(struct io_uring_params, flags)
            OFFSETOF_IO_URING_PARAMS_FEATURES           offsetof(struct io_uring_params, features)
            OFFSETOF_IO_URING_PARAMS_SQ_HEAD            offsetof(struct io_uring_params, sq_off.head)
            OFFSETOF_IO_URING_PARAMS_SQ_TAIL            offsetof(struct io_uring_params, sq_off.tail)
            OFFSETOF_IO_URING_PARAMS_SQ_FLAGS           offsetof(struct io_uring_params, sq_off.flags)
            OFFSETOF_IO_URING_PARAMS_SQ_ARRAY           offsetof(struct io_uring_params, sq_off.array)
            OFFSETOF_IO_URING_PARAMS_CQ_HEAD            offsetof(struct io_uring_params, cq_off.head)
            OFFSETOF_IO_URING_PARAMS_CQ_TAIL            offsetof(struct io_uring_params, cq_off.tail)
            OFFSETOF_IO_URING_PARAMS_CQ_CQES            offsetof(struct io_uring_params, cq_off.cqes)
            SIZEOF_IO_URING_SQE                         sizeof(struct io_uring_sqe)
            OFFSETOF_IO_URING_SQE_OPCODE                offsetof(struct io_uring_sqe, opcode)
            OFFSETOF_IO_URING_SQE_FLAGS                 offsetof(struct io_uring_sqe, flags)
            OFFSETOF_IO_URING_SQE_IOPRIO                offsetof(struct io_uring_sqe, ioprio)
            OFFSETOF_IO_URING_SQE_FD                    offsetof(struct io_uring_sqe, fd)
            OFFSETOF_IO_URING_SQE_OFF                   offsetof(struct io_uring_sqe, off)
            OFFSETOF_IO_URING_SQE_ADDR                  offsetof(struct io_uring_sqe, addr)
            OFFSETOF_IO_URING_SQE_LEN                   offsetof(struct io_uring_sqe, len)
            OFFSETOF_IO_URING_SQE_OP_FLAGS              offsetof(struct io_uring_sqe, poll32_events)
            OFFSETOF_IO_URING_SQE_USER_DATA             offsetof(struct io_uring_sqe, user_data)
            OFFSETOF_IO_URING_SQE_BUF_GROUP             offsetof(struct io_uring_sqe, buf_group)
            SIZEOF_IO_URING_CQE                         sizeof(struct io_uring_cqe)
            OFFSETOF_IO_URING_CQE_USER_DATA             offsetof(struct io_uring_cqe, user_data)
            OFFSETOF_IO_URING_CQE_RES                   offsetof(struct io_uring_cqe, res)
            OFFSETOF_IO_URING_CQE_FLAGS                 offsetof(struct io_uring_cqe, flags)
            SIZEOF_IO_URING_GETEVENTS_ARG               sizeof(struct io_uring_getevents_arg)
            OFFSETOF_IO_URING_GETEVENTS_ARG_TS          offsetof(struct io_uring_getevents_arg, ts)
            SIZEOF_IO_URING_PROBE                       sizeof(struct io_uring_probe)
            OFFSETOF_IO_URING_PROBE_OPS_LEN             offsetof(struct io_uring_probe, ops_len)
            SIZEOF_IO_URING_PROBE_OP                    sizeof(struct io_uring_probe_op)
            OFFSETOF_IO_URING_PROBE_OP_FLAGS            offsetof(struct io_uring_probe_op, flags)
            SIZEOF_IO_URING_BUF                         sizeof(struct io_uring_buf)
            OFFSETOF_IO_URING_BUF_LEN                   offsetof(struct io_uring_buf, len)
            OFFSETOF_IO_URING_BUF_BID                   offsetof(struct io_uring_buf, bid)
            OFFSETOF_IO_URING_BUF_RING_TAIL             offsetof(struct io_uring_buf_ring, tail)
            SIZEOF_IO_URING_BUF_REG                     sizeof(struct io_uring_buf_reg)
            OFFSETOF_IO_URING_BUF_REG_ENTRIES           offsetof(struct io_uring_buf_reg, ring_entries)
            OFFSETOF_IO_URING_BUF_REG_BGID              offsetof(struct io_uring_buf_reg, bgid)
            SIZEOF_IO_URING_RSRC_UPDATE                 sizeof(struct io_uring_rsrc_update)
            OFFSETOF_IO_URING_RSRC_UPDATE_DATA          offsetof(struct io_uring_rsrc_update, data)
            SIZEOF_STATX                       sizeof(struct statx)
            OFFSETOF_STATX_MODE                offsetof(struct statx, stx_mode)
            OFFSETOF_STATX_RDEV_MAJOR          offsetof(struct statx, stx_rdev_major)
            OFFSETOF_STATX_RDEV_MINOR          offsetof(struct statx, stx_rdev_minor)
            SIZEOF_LINGER                      sizeof(struct linger)
            SIZEOF_SOCK_FPROG                  sizeof(struct sock_fprog)
            OFFSETOF_SOCK_FPROG_FILTER         offsetof(struct sock_fprog, filter)
            SIZEOF_SOCK_FILTER                 sizeof(struct sock_filter)
            BPF_LD_W_ABS                       (BPF_LD | BPF_W | BPF_ABS)
            BPF_ALU_MOD_K                      (BPF_ALU | BPF_MOD | BPF_K)
            BPF_RET_A                          (BPF_RET | BPF_A)
            SKF_AD_OFF_CPU                     (SKF_AD_OFF + SKF_AD_CPU)
            SIZEOF_SOCKADDR_STORAGE            sizeof(struct sockaddr_storage)
            SIZEOF_SOCKADDR_IN                 sizeof(struct sockaddr_in)
            SIZEOF_SOCKADDR_IN6                sizeof(struct sockaddr_in6)
            OFFSETOF_SOCKADDR_PORT             offsetof(struct sockaddr_in6, sin6_port)
            OFFSETOF_SOCKADDR_IN_ADDRESS       offsetof(struct sockaddr_in, sin_addr)
            OFFSETOF_SOCKADDR_IN6_ADDRESS      offsetof(struct sockaddr_in6, sin6_addr)
            OFFSETOF_SOCKADDR_IN6_SCOPE        offsetof(struct sockaddr_in6, sin6_scope_id)
            OFFSETOF_SOCKADDR_UN_PATH          offsetof(struct sockaddr_un, sun_path)
            SIZEOF_SOCKADDR_UN_PATH            sizeof(((struct sockaddr_un *) 0)->sun_path)
            SIZEOF_MSGHDR                      sizeof(struct msghdr)
            OFFSETOF_MSGHDR_NAME               offsetof(struct msghdr, msg_name)
            OFFSETOF_MSGHDR_NAMELEN            offsetof(struct msghdr, msg_namelen)
            OFFSETOF_MSGHDR_IOV                offsetof(struct msghdr, msg_iov)
            OFFSETOF_MSGHDR_IOVLEN             offsetof(struct msghdr, msg_iovlen)
            OFFSETOF_MSGHDR_FLAGS              offsetof(struct msghdr, msg_flags)
            SIZEOF_POLLFD                      sizeof(struct pollfd)
            OFFSETOF_POLLFD_EVENTS             offsetof(struct pollfd, events)
            OFFSETOF_POLLFD_REVENTS            offsetof(struct pollfd, revents)
            SIZEOF_IOVEC                       sizeof(struct iovec)
            OFFSETOF_IOVEC_LEN                 offsetof(struct iovec, iov_len)
            OFFSETOF_STATX_INO                 offsetof(struct statx, stx_ino)
            OFFSETOF_STATX_SIZE                offsetof(struct statx, stx_size)
            OFFSETOF_STATX_MTIME               offsetof(struct statx, stx_mtime)
            SIZEOF_WINSIZE                     sizeof(struct winsize)
            OFFSETOF_WINSIZE_COLUMNS           offsetof(struct winsize, ws_col)
            SIZEOF_SIGSET                      sizeof(sigset_t)
            SIZEOF_SIGNALFD_SIGINFO            sizeof(struct signalfd_siginfo)
            OFFSETOF_SIGNALFD_SIGINFO_SIGNO    offsetof(struct signalfd_siginfo, ssi_signo)
            SIZEOF_SIGINFO                     sizeof(siginfo_t)
            OFFSETOF_SIGINFO_CODE              offsetof(siginfo_t, si_code)
            OFFSETOF_SIGINFO_PID               offsetof(siginfo_t, si_pid)
            OFFSETOF_SIGINFO_STATUS            offsetof(siginfo_t, si_status)
            SIZEOF_INOTIFY_EVENT               sizeof(struct inotify_event)
            OFFSETOF_INOTIFY_EVENT_MASK        offsetof(struct inotify_event, mask)
            OFFSETOF_INOTIFY_EVENT_COOKIE      offsetof(struct inotify_event, cookie)
            OFFSETOF_INOTIFY_EVENT_LEN         offsetof(struct inotify_event, len)
            """;

    private static final String HEADERS =
            """
            #define _GNU_SOURCE
            #include <errno.h>
            #include <fcntl.h>
            #include <limits.h>
            #include <linux/filter.h>
            #include <linux/io_uring.h>
            #include <poll.h>
            #include <signal.h>
            #include <spawn.h>
            #include <stddef.h>
            #include <stdio.h>
            #include <netinet/in.h>
            #include <netinet/tcp.h>
            #include <sys/epoll.h>
            #include <sys/eventfd.h>
            #include <sys/inotify.h>
            #include <sys/ioctl.h>
            #include <sys/mman.h>
            #include <sys/resource.h>
            #include <sys/signalfd.h>
            #include <sys/socket.h>
            #include <sys/stat.h>
            #include <sys/syscall.h>
            #include <sys/timerfd.h>
            #include <sys/uio.h>
            #include <sys/un.h>
            #include <sys/wait.h>
            #include <termios.h>
            #include <time.h>
            // Since Linux 6.6; headers may be older than the kernel.
            #ifndef IORING_SETUP_NO_SQARRAY
            #define IORING_SETUP_NO_SQARRAY (1U << 16)
            #endif
            """;

    @Test
    @Clause("B-7")
    void constants_areThoseOfTheSystemsHeaders(@TempDir Path directory)
            throws IOException, InterruptedException, IllegalAccessException {
        Map<String, Integer> ours = new TreeMap<>();
        for (Class<?> type : new Class<?>[] {Linux.class, IoUringAbi.class, Errno.class}) {
            for (Field field : type.getFields()) {
                ours.put(field.getName(), field.getInt(null));
            }
        }
        for (Signal signal : Signal.values()) {
            ours.put(signal.name(), signal.number());
        }
        assertThat(askCompiler(directory, ours)).isEqualTo(ours);
    }

    private static Map<String, Integer> askCompiler(Path directory, Map<String, Integer> names)
            throws IOException, InterruptedException {
        StringBuilder source = new StringBuilder(HEADERS).append("int main(void) {\n");
        Map<String, String> layouts = new HashMap<>();
        LAYOUTS.lines()
                .map(line -> line.split(" +", 2))
                .forEach(entry -> layouts.put(entry[0], entry[1]));
        for (String name : names.keySet()) {
            String expression =
                    layouts.getOrDefault(
                            name, name.startsWith("SYS_") ? "__NR_" + name.substring(4) : name);
            source.append("  printf(\"%s %d\\n\", \"")
                    .append(name)
                    .append("\", (int) (")
                    .append(expression)
                    .append("));\n");
        }
        source.append("  return 0;\n}\n");
        Path file = Files.writeString(directory.resolve("constants.c"), source);
        Path program = directory.resolve("constants");
        try {
            run("cc", "-o", program.toString(), file.toString());
        } catch (IOException e) {
            // Skipped on a machine without a compiler; CI installs one.
            assumeTrue(
                    System.getenv("CI") != null, "no C compiler (apt-get install gcc libc6-dev)");
            throw e;
        }
        Map<String, Integer> answers = new TreeMap<>();
        run(program.toString())
                .lines()
                .forEach(
                        line -> {
                            int space = line.indexOf(' ');
                            answers.put(
                                    line.substring(0, space),
                                    Integer.parseInt(line.substring(space + 1)));
                        });
        return answers;
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
