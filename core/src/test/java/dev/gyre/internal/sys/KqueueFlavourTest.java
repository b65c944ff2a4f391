package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.Set;

/// Error numbers of the systems with kqueue, from the manuals of macOS and FreeBSD.
class KqueueFlavourTest {
    @ParameterizedTest
    @CsvSource({
        "EPERM, 1, 1",
        "ENOENT, 2, 2",
        "ESRCH, 3, 3",
        "EINTR, 4, 4",
        "EIO, 5, 5",
        "E2BIG, 7, 7",
        "ENOEXEC, 8, 8",
        "EBADF, 9, 9",
        "ECHILD, 10, 10",
        "ENOMEM, 12, 12",
        "EACCES, 13, 13",
        "EFAULT, 14, 14",
        "EBUSY, 16, 16",
        "EEXIST, 17, 17",
        "ENODEV, 19, 19",
        "ENOTDIR, 20, 20",
        "EISDIR, 21, 21",
        "EINVAL, 22, 22",
        "ENFILE, 23, 23",
        "EMFILE, 24, 24",
        "ENOTTY, 25, 25",
        "ETXTBSY, 26, 26",
        "ENOSPC, 28, 28",
        "EPIPE, 32, 32",
        "EAGAIN, 35, 35",
        "EINPROGRESS, 36, 36",
        "EALREADY, 37, 37",
        "ENOTSOCK, 38, 38",
        "EDESTADDRREQ, 39, 39",
        "EMSGSIZE, 40, 40",
        "EOPNOTSUPP, 102, 45",
        "EAFNOSUPPORT, 47, 47",
        "EADDRINUSE, 48, 48",
        "EADDRNOTAVAIL, 49, 49",
        "ENETDOWN, 50, 50",
        "ENETUNREACH, 51, 51",
        "ECONNABORTED, 53, 53",
        "ECONNRESET, 54, 54",
        "ENOBUFS, 55, 55",
        "EISCONN, 56, 56",
        "ENOTCONN, 57, 57",
        "ETIMEDOUT, 60, 60",
        "ECONNREFUSED, 61, 61",
        "ELOOP, 62, 62",
        "ENAMETOOLONG, 63, 63",
        "EHOSTUNREACH, 65, 65",
        "ENOSYS, 78, 78",
        "ECANCELED, 89, 85",
    })
    @Clause({"B-5", "E-1"})
    void errno_ofASystem_hasTheNameItHasThere(String name, int macos, int freebsd)
            throws ReflectiveOperationException {
        int ours = Errno.class.getField(name).getInt(null);
        assertThat(KqueueFlavour.MACOS.errno(macos)).isEqualTo(ours);
        assertThat(KqueueFlavour.FREEBSD.errno(freebsd)).isEqualTo(ours);
        assertThat(KqueueFlavour.LIBKQUEUE.errno(ours)).isEqualTo(ours);
        assertThat(Errno.name(ours)).isEqualTo(name);
    }

    @Test
    @Clause({"B-5", "E-1"})
    void errno_thatGyreKnows_isReachedFromEverySystem() throws IllegalAccessException {
        for (KqueueFlavour flavour : KqueueFlavour.values()) {
            Set<Integer> reached = new HashSet<>();
            for (int number = 1; number < 200; number++) {
                reached.add(flavour.errno(number));
            }
            for (Field field : Errno.class.getFields()) {
                if (Set.of("EBADR", "ETIME", "ENONET").contains(field.getName())) {
                    continue; // Only Linux returns it.
                }
                assertThat(reached)
                        .as(
                                "%s has no number for %s: add it to KqueueFlavour",
                                flavour, field.getName())
                        .contains(field.getInt(null));
            }
        }
    }

    @Test
    @Clause("E-1")
    void errno_thatLinuxHasNoNameFor_isNotTakenForAnother() {
        assertThat(KqueueFlavour.MACOS.errno(88)).as("EBADMACHO").isEqualTo(10_088);
        assertThat(KqueueFlavour.FREEBSD.errno(94)).as("ECAPMODE").isEqualTo(10_094);
        assertThat(KqueueFlavour.MACOS.errno(11)).as("EDEADLK").isEqualTo(35);
        assertThat(KqueueFlavour.FREEBSD.errno(0)).isZero();
    }

    @Test
    @Clause("B-5")
    void flavour_isTheSystemsUnlessNamed() {
        assertThat(KqueueFlavour.choose("", "Mac OS X")).isEqualTo(KqueueFlavour.MACOS);
        assertThat(KqueueFlavour.choose("", "FreeBSD")).isEqualTo(KqueueFlavour.FREEBSD);
        assertThat(KqueueFlavour.choose("libkqueue", "Linux")).isEqualTo(KqueueFlavour.LIBKQUEUE);
        assertThatThrownBy(() -> KqueueFlavour.choose("", "Linux"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Linux has no kqueue");
        assertThatThrownBy(() -> KqueueFlavour.choose("netbsd", "Linux"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gyre.kqueue.flavour")
                .hasMessageContaining("netbsd");
    }
}
