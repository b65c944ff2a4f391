package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;

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

/// Asks the C compiler for every constant and layout of [Linux] and [Errno], so that none rests on memory.
class ConstantsTest {
    private static final Map<String, String> LAYOUTS =
            Map.of(
                    "SIZEOF_EPOLL_EVENT", "sizeof(struct epoll_event)",
                    "OFFSETOF_EPOLL_EVENT_EVENTS", "offsetof(struct epoll_event, events)",
                    "OFFSETOF_EPOLL_EVENT_DATA", "offsetof(struct epoll_event, data)",
                    "SIZEOF_TIMESPEC", "sizeof(struct timespec)",
                    "OFFSETOF_TIMESPEC_NANOS", "offsetof(struct timespec, tv_nsec)",
                    "SIZEOF_ITIMERSPEC", "sizeof(struct itimerspec)",
                    "OFFSETOF_ITIMERSPEC_VALUE", "offsetof(struct itimerspec, it_value)",
                    "SIZEOF_RLIMIT", "sizeof(struct rlimit)",
                    "SIZEOF_IO_URING_PARAMS", "sizeof(struct io_uring_params)",
                    "OFFSETOF_IO_URING_PARAMS_FEATURES",
                            "offsetof(struct io_uring_params, features)");

    private static final Map<String, String> PROCESS_LAYOUTS =
            Map.of(
                    "SIZEOF_SIGINFO", "sizeof(siginfo_t)",
                    "OFFSETOF_SIGINFO_CODE", "offsetof(siginfo_t, si_code)",
                    "OFFSETOF_SIGINFO_PID", "offsetof(siginfo_t, si_pid)",
                    "OFFSETOF_SIGINFO_STATUS", "offsetof(siginfo_t, si_status)");

    private static final String HEADERS =
            """
            #define _GNU_SOURCE
            #include <errno.h>
            #include <fcntl.h>
            #include <linux/io_uring.h>
            #include <signal.h>
            #include <spawn.h>
            #include <stddef.h>
            #include <stdio.h>
            #include <sys/epoll.h>
            #include <sys/eventfd.h>
            #include <sys/resource.h>
            #include <sys/socket.h>
            #include <sys/syscall.h>
            #include <sys/timerfd.h>
            #include <sys/wait.h>
            #include <time.h>
            """;

    @Test
    @Clause("B-7")
    void constants_areThoseOfTheSystemsHeaders(@TempDir Path directory)
            throws IOException, InterruptedException, IllegalAccessException {
        Map<String, Integer> ours = new TreeMap<>();
        for (Class<?> type : new Class<?>[] {Linux.class, Errno.class}) {
            for (Field field : type.getFields()) {
                ours.put(field.getName(), field.getInt(null));
            }
        }
        assertThat(askCompiler(directory, ours)).isEqualTo(ours);
    }

    private static Map<String, Integer> askCompiler(Path directory, Map<String, Integer> names)
            throws IOException, InterruptedException {
        StringBuilder source = new StringBuilder(HEADERS).append("int main(void) {\n");
        Map<String, String> layouts = new HashMap<>(LAYOUTS);
        layouts.putAll(PROCESS_LAYOUTS);
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
            // On a developer's machine without a compiler there is nobody to ask; CI installs one.
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
