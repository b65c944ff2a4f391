package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.SyscallFactories;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/// The rest of the seam over a [FakeKqueue]: what sockets and pipes need to run a whole loop on
/// it. There are no datagrams and no files: those calls are refused with `ENOSYS`.
final class FakeSeam {
    private FakeSeam() {}

    static SyscallFactories over(FakeKqueue kernel) {
        Calls calls = new Calls(kernel);
        PollCalls kernels = as(PollCalls.class, calls);
        SocketCalls sockets = as(SocketCalls.class, calls);
        FileCalls files = as(FileCalls.class, calls);
        return new SyscallFactories(() -> kernels, () -> sockets, () -> files);
    }

    /// The calls that [Calls] has, by their names; of the seam's many others none is reached.
    private static <T> T as(Class<T> type, Calls calls) {
        InvocationHandler handler =
                (proxy, method, arguments) -> {
                    Method own;
                    try {
                        own = Calls.class.getMethod(method.getName(), method.getParameterTypes());
                    } catch (NoSuchMethodException e) {
                        int refused = -Errno.ENOSYS;
                        return method.getReturnType() == long.class
                                ? (Object) (long) refused
                                : refused;
                    }
                    try {
                        return own.invoke(calls, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                };
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /// Public for reflection's sake only.
    public static final class Calls {
        private final FakeKqueue kernel;
        private final FakeNetwork network;

        private Calls(FakeKqueue kernel) {
            this.kernel = kernel;
            network = new FakeNetwork(kernel);
        }

        public int socket(int domain, int type, int protocol) {
            return network.socket(domain, type);
        }

        public int setsockopt(int fd, int level, int option, long value, int length) {
            return 0;
        }

        public int bind(int fd, long address, int length) {
            return network.bind(fd, address);
        }

        public int listen(int fd, int backlog) {
            return network.listen(fd);
        }

        public int connect(int fd, long address, int length) {
            return network.connect(fd, address);
        }

        public int accept4(int fd, long address, long lengthAddress, int flags) {
            return network.accept(fd, address, lengthAddress);
        }

        public int getsockname(int fd, long address, long lengthAddress) {
            return network.name(fd, address, lengthAddress);
        }

        public int socketpair(int domain, int type, int protocol, long pairAddress) {
            return numbers(FakeDescriptor.sockets(), pairAddress);
        }

        public int pipe2(long pairAddress, int flags) {
            return numbers(FakeDescriptor.pipe(), pairAddress);
        }

        private int numbers(FakeDescriptor[] ends, long pairAddress) {
            Memory.putInt(pairAddress, kernel.open(ends[0]));
            Memory.putInt(pairAddress + Integer.BYTES, kernel.open(ends[1]));
            return 0;
        }

        public int fcntl(int fd, int command, int argument) {
            return kernel.fcntl(fd, command, argument);
        }

        public int close(int fd) {
            return kernel.close(fd);
        }

        public long read(int fd, long address, long count) {
            return kernel.read(fd, address, count);
        }

        public long write(int fd, long address, long count) {
            return kernel.write(fd, address, count);
        }

        public long recv(int fd, long address, long count, int flags) {
            return (flags & Linux.MSG_OOB) != 0 ? -Errno.EINVAL : kernel.read(fd, address, count);
        }

        public long send(int fd, long address, long count, int flags) {
            return kernel.write(fd, address, count);
        }

        public long readv(int fd, long vectors, int count) {
            return each(fd, vectors, count, kernel::read);
        }

        public long writev(int fd, long vectors, int count) {
            return each(fd, vectors, count, kernel::write);
        }

        private interface Step {
            long apply(int fd, long address, long count);
        }

        /// Vector by vector, up to the first that is not filled or emptied wholly.
        private static long each(int fd, long vectors, int count, Step step) {
            long all = 0;
            for (int i = 0; i < count; i++) {
                long vector = vectors + (long) i * Linux.SIZEOF_IOVEC;
                long size = Memory.getLong(vector + Linux.OFFSETOF_IOVEC_LEN);
                if (size == 0) {
                    continue;
                }
                long result = step.apply(fd, Memory.getLong(vector), size);
                if (result < 0) {
                    return all > 0 ? all : result;
                }
                all += result;
                if (result < size) {
                    return all;
                }
            }
            return all;
        }

        public int shutdown(int fd, int how) {
            kernel.shutDown(fd);
            return 0;
        }

        public int getsockopt(int fd, int level, int option, long value, long length) {
            boolean error = level == Linux.SOL_SOCKET && option == Linux.SO_ERROR;
            Memory.putInt(value, error ? network.error(fd) : 0);
            return 0;
        }

        public int getpeername(int fd, long address, long lengthAddress) {
            return network.peerName(fd, address, lengthAddress);
        }
    }
}
