package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

final class CgroupMemoryTest {
    private static final String MOUNTED_2 =
            "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";

    @TempDir Path root;

    @Test
    void limit_version2_isReadFromTheGroup() throws IOException {
        write("proc/self/cgroup", "0::/app.slice/app\n");
        write("proc/self/mountinfo", "23 1 8:1 / / rw - ext4 /dev/vda rw\n" + MOUNTED_2);
        write("sys/fs/cgroup/app.slice/app/memory.max", "268435456\n");

        assertThat(limit()).hasValue(268_435_456);
    }

    @Test
    void limit_ofAGroupAbove_countsIfLower() throws IOException {
        write("proc/self/cgroup", "0::/app.slice/app\n");
        write("proc/self/mountinfo", MOUNTED_2);
        write("sys/fs/cgroup/app.slice/app/memory.max", "max\n");
        write("sys/fs/cgroup/app.slice/memory.max", "1000000\n");
        write("sys/fs/cgroup/memory.max", "2000000\n");

        assertThat(limit()).hasValue(1_000_000);
    }

    @Test
    void limit_inAContainer_isAtTheMountedTop() throws IOException {
        write("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n");
        write(
                "proc/self/mountinfo",
                """
                40 31 0:33 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct
                41 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
                """);
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");

        assertThat(limit()).hasValue(536_870_912);
    }

    @Test
    void limit_version1Unlimited_isNone() throws IOException {
        write("proc/self/cgroup", "4:memory:/\n0::/\n");
        write(
                "proc/self/mountinfo",
                """
                35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
                41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
                """);
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");

        assertThat(limit()).isEmpty();
    }

    @Test
    void limit_withoutProc_isNone() {
        assertThat(limit()).isEmpty();
    }

    @Test
    void limit_ofNonsense_isNone() throws IOException {
        write("proc/self/cgroup", "nonsense\n");
        write("proc/self/mountinfo", "nonsense\n - \n\n" + MOUNTED_2);

        assertThat(limit()).isEmpty();
    }

    private OptionalLong limit() {
        return new CgroupMemory(root).limitBytes();
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
