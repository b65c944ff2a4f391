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
import java.util.Map;
import java.util.TreeMap;

/// Asks the C compiler for every constant and layout of [Linux] and [Errno], so that none rests on memory.
class ConstantsTest {
    private static final Map<String, String> LAYOUTS =
            Map.ofEntries(
                    Map.entry("SIZEOF_EPOLL_EVENT", "sizeof(struct epoll_event)"),
                    Map.entry(
                            "OFFSETOF_EPOLL_EVENT_EVENTS", "offsetof(struct epoll_event, events)"),
                    Map.entry("OFFSETOF_EPOLL_EVENT_DATA", "offsetof(struct epoll_event, data)"),
                    Map.entry("SIZEOF_TIMESPEC", "sizeof(struct timespec)"),
                    Map.entry("OFFSETOF_TIMESPEC_NANOS", "offsetof(struct timespec, tv_nsec)"),
                    Map.entry("SIZEOF_ITIMERSPEC", "sizeof(struct itimerspec)"),
                    Map.entry("OFFSETOF_ITIMERSPEC_VALUE", "offsetof(struct itimerspec, it_value)"),
                    Map.entry("SIZEOF_RLIMIT", "sizeof(struct rlimit)"),
                    Map.entry("SIZEOF_IO_URING_PARAMS", "sizeof(struct io_uring_params)"),
                    Map.entry(
                            "OFFSETOF_IO_URING_PARAMS_FEATURES",
                            "offsetof(struct io_uring_params, features)"),
                    Map.entry("SIZEOF_INOTIFY_EVENT", "sizeof(struct inotify_event)"),
                    Map.entry(
                            "OFFSETOF_INOTIFY_EVENT_MASK", "offsetof(struct inotify_event, mask)"),
                    Map.entry(
                            "OFFSETOF_INOTIFY_EVENT_COOKIE",
                            "offsetof(struct inotify_event, cookie)"),
                    Map.entry("OFFSETOF_INOTIFY_EVENT_LEN", "offsetof(struct inotify_event, len)"));

    private static final String HEADERS =
            """
            #define _GNU_SOURCE
            #include <errno.h>
            #include <fcntl.h>
            #include <linux/io_uring.h>
            #include <limits.h>
            #include <stddef.h>
            #include <stdio.h>
            #include <sys/epoll.h>
            #include <sys/eventfd.h>
            #include <sys/inotify.h>
            #include <sys/resource.h>
            #include <sys/socket.h>
            #include <sys/syscall.h>
            #include <sys/timerfd.h>
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
        for (String name : names.keySet()) {
            String expression =
                    LAYOUTS.getOrDefault(
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
