package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The real calls through a library that only prints its arguments: each argument and field in its
/// position, errno translated. It runs in a separate process, since a process loads one library.
class BsdKqueueCallsTest {
    private static final String LIBRARY =
            """
            #include <errno.h>
            #include <stdint.h>
            #include <stdio.h>
            #include <time.h>

            struct kevent {
                uintptr_t ident;
                short filter;
                unsigned short flags;
                unsigned int fflags;
                int64_t data;
                void *udata;
            #ifdef EXT
                uint64_t ext[4];
            #endif
            };

            int kqueue(void) { return 77; }

            int kevent(int kq, const struct kevent *changes, int nchanges,
                       struct kevent *events, int nevents, const struct timespec *timeout) {
                printf("kq %d timeout %ld.%09ld", kq, timeout ? (long) timeout->tv_sec : -1,
                       timeout ? timeout->tv_nsec : 0);
                for (int i = 0; i < nchanges; i++) {
                    printf(" change %lu %d %x %x %ld %lx", (unsigned long) changes[i].ident,
                           changes[i].filter, changes[i].flags, changes[i].fflags,
                           (long) changes[i].data, (unsigned long) changes[i].udata);
                }
                printf(" room %d\\n", nevents);
                fflush(stdout);
                for (int i = 0; i < nevents; i++) {
                    events[i] = (struct kevent){.ident = 100 + i, .filter = -2 - i,
                        .flags = 0x8001, .fflags = 0x80000000u, .data = -1 - i,
                        .udata = (void *) 0x123456789abcdefUL};
                }
                if (nevents == 0) {
                    errno = 35;
                    return -1;
                }
                return nevents;
            }
            """;

    @Test
    @Clause({"B-5", "B-7"})
    void calls_ofEachFlavour_areWhatCExpects(@TempDir Path directory)
            throws IOException, InterruptedException {
        for (KqueueFlavour flavour : KqueueFlavour.values()) {
            boolean ext = flavour == KqueueFlavour.FREEBSD;
            Path source = Files.writeString(directory.resolve("fake.c"), LIBRARY);
            Path library = directory.resolve("libfake-" + flavour + ".so");
            try {
                run(
                        "cc",
                        ext ? "-DEXT" : "-UEXT",
                        "-shared",
                        "-fPIC",
                        "-o",
                        library.toString(),
                        source.toString());
            } catch (IOException e) {
                assumeTrue(
                        System.getenv("CI") != null,
                        "no C compiler (apt-get install gcc libc6-dev)");
                throw e;
            }
            List<String> said =
                    run(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "--enable-native-access=ALL-UNNAMED",
                                    "-Dgyre.kqueue.library=" + library,
                                    "-Dgyre.kqueue.flavour=" + flavour.name(),
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    KqueueCallsProgram.class.getName())
                            .lines()
                            .toList();
            int again = flavour == KqueueFlavour.LIBKQUEUE ? 35 : Errno.EAGAIN;
            assertThat(said)
                    .as("%s", flavour)
                    .containsExactly(
                            "kqueue 77",
                            "kq 5 timeout 3.000000007"
                                    + " change 11 -1 61 0 0 feedbeef00000001"
                                    + " change 12 -10 4 1000000 9 2 room 2",
                            "events 2",
                            "event 100 -2 8001 80000000 -1 123456789abcdef",
                            "event 101 -3 8001 80000000 -2 123456789abcdef",
                            "kq 5 timeout -1.000000000 room 0",
                            "refused " + again,
                            "pipe 1000 true true");
        }
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
