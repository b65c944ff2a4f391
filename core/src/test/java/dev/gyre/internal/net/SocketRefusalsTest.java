package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultySockets;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Descriptor;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;

/// Errors that only injected system calls can produce.
class SocketRefusalsTest {
    private static final SocketAddress ANY_PORT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final Plan plan = new Plan();
    private final SyscallFactories seam =
            new SyscallFactories(
                    SyscallFactories.LINUX.kernels(),
                    () -> new FaultySockets(plan),
                    SyscallFactories.LINUX.files());

    private void refuses(String call, int errno, SocketAddress address, String... said) {
        long before = OpenDescriptors.count();
        plan.fail(call, errno);
        assertThatThrownBy(() -> SocketSettings.DEFAULTS.listen(seam, address))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContainingAll(said);
        assertThat(OpenDescriptors.count()).as("descriptors left open").isLessThanOrEqualTo(before);
    }

    @Test
    @Clause({"N-1", "E-1"})
    void listen_onAPrivilegedPort_saysWhatIsNeeded() {
        SocketAddress web = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
        refuses("bind", Errno.EACCES, web, ":80", "EACCES", "CAP_NET_BIND_SERVICE");
    }

    @Test
    @Clause({"N-1", "E-1"})
    void listen_inADirectoryOfOthers_doesNotSpeakOfPorts() {
        SocketAddress path = UnixDomainSocketAddress.of("/run/private/socket");
        refuses("bind", Errno.EACCES, path, "/run/private/socket", "may not create files");
        refuses("bind", Errno.ENOENT, path, "/run/private/socket", "directory does not exist");
    }

    @Test
    @Clause({"N-1", "E-1"})
    void option_refused_isNamedAndNothingIsLeftOpen() {
        refuses("setsockopt", Errno.ENOPROTOOPT, ANY_PORT, "SO_REUSEADDR to 1", "ENOPROTOOPT");
    }

    @Test
    @Clause({"N-1", "E-1"})
    void listen_withoutIpv6_isContentWithIpv4() throws Exception {
        SocketAddress all = new InetSocketAddress(InetAddress.getByName("0.0.0.0"), 0);
        plan.fail("socket", Errno.EAFNOSUPPORT);
        try (Descriptor listener = SocketSettings.DEFAULTS.listen(seam, all)) {
            assertThat(listener.isOpen()).isTrue();
        }
    }
}
