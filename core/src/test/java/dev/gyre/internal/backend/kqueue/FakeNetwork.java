package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.Map;

/// TCP on the loopback address of a [FakeKqueue]: sockets that listen, connect and accept. A
/// connect never completes at once, so that an event reports its outcome. There are no datagrams.
///
/// Guarded by the kernel's monitor.
final class FakeNetwork {
    private static final int FIRST_PORT = 40_000;
    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private final FakeKqueue kernel;
    private final Map<FakeDescriptor, Integer> ports = new HashMap<>();
    private int nextPort = FIRST_PORT;

    FakeNetwork(FakeKqueue kernel) {
        this.kernel = kernel;
    }

    int socket(int domain, int type) {
        synchronized (kernel) {
            boolean tcp = domain == Linux.AF_INET && (type & 0xF) == Linux.SOCK_STREAM;
            return tcp ? kernel.open(FakeDescriptor.socket()) : -Errno.EAFNOSUPPORT;
        }
    }

    int bind(int fd, long address) {
        synchronized (kernel) {
            int port = port(address);
            if (listener(port) != null) {
                return -Errno.EADDRINUSE;
            }
            ports.put(kernel.get(fd), port == 0 ? nextPort++ : port);
            return 0;
        }
    }

    int listen(int fd) {
        synchronized (kernel) {
            kernel.get(fd).listen();
            return 0;
        }
    }

    int connect(int fd, long address) {
        synchronized (kernel) {
            FakeDescriptor socket = kernel.get(fd);
            ports.putIfAbsent(socket, nextPort++);
            FakeDescriptor listener = listener(port(address));
            if (listener == null) {
                socket.reset(Errno.ECONNREFUSED);
            } else {
                ports.put(socket.connectTo(listener), ports.get(listener));
                kernel.activateFilters(listener);
            }
            kernel.activateFilters(socket);
            return -Errno.EINPROGRESS;
        }
    }

    int accept(int fd, long address, long lengthAddress) {
        synchronized (kernel) {
            FakeDescriptor accepted = kernel.get(fd).accept();
            if (accepted == null) {
                return -Errno.EAGAIN;
            }
            int number = kernel.open(accepted);
            if (address != 0) {
                int _ = peerName(number, address, lengthAddress);
            }
            return number;
        }
    }

    int name(int fd, long address, long lengthAddress) {
        synchronized (kernel) {
            putName(ports.getOrDefault(kernel.get(fd), 0), address, lengthAddress);
            return 0;
        }
    }

    int peerName(int fd, long address, long lengthAddress) {
        synchronized (kernel) {
            FakeDescriptor socket = kernel.get(fd);
            if (!socket.isConnected()) {
                return -Errno.ENOTCONN;
            }
            FakeDescriptor peer = socket.peer();
            putName(peer == null ? 0 : ports.getOrDefault(peer, 0), address, lengthAddress);
            return 0;
        }
    }

    /// Returns and clears the error of a socket, of [Errno].
    int error(int fd) {
        synchronized (kernel) {
            return kernel.get(fd).takeError();
        }
    }

    private @Nullable FakeDescriptor listener(int port) {
        return ports.entrySet().stream()
                .filter(bound -> bound.getValue() == port && bound.getKey().isListening())
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /// Ports are in the order of the network, whatever the machine's is.
    private static int port(long address) {
        long port = address + Linux.OFFSETOF_SOCKADDR_PORT;
        return ((Memory.getByte(port) & 0xFF) << 8) | (Memory.getByte(port + 1) & 0xFF);
    }

    private static void putName(int port, long address, long lengthAddress) {
        Memory.putByte(address, (byte) Linux.AF_INET);
        Memory.putByte(address + 1, (byte) 0);
        Memory.putByte(address + Linux.OFFSETOF_SOCKADDR_PORT, (byte) (port >> 8));
        Memory.putByte(address + Linux.OFFSETOF_SOCKADDR_PORT + 1, (byte) port);
        for (int i = 0; i < LOOPBACK.length; i++) {
            Memory.putByte(address + Linux.OFFSETOF_SOCKADDR_IN_ADDRESS + i, LOOPBACK[i]);
        }
        Memory.putInt(lengthAddress, Linux.SIZEOF_SOCKADDR_IN);
    }
}
