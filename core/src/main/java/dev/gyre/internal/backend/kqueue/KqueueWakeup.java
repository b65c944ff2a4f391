package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FdPair;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Memory;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;

/// What interrupts a kqueue. Its event carries generation zero, and comes until it is
/// [drained][#drain].
sealed interface KqueueWakeup extends Wakeup {
    /// Whether closing the bell closes the queue: it is then its only descriptor.
    boolean isTheQueue();

    /// Drains the wake-up after its event was delivered. Loop thread only.
    ///
    /// @param calls those of the loop thread
    /// @return whether the wake-up is drained; if false, the event is delivered again
    boolean drain(KqueueCalls calls);

    /// The best bell that this kernel has.
    ///
    /// @param calls the bell's own
    static KqueueWakeup choose(KqueueCalls calls, KqueueFlavour flavour, int kq) {
        ChangeList changes = new ChangeList(calls, flavour, kq);
        int flags = Kevent.EV_ADD | Kevent.EV_ENABLE | Kevent.EV_CLEAR;
        int result = changes.put(0, flavour.userFilter(), flags, 0, 0).submit();
        if (result < 0) {
            throw new SystemCallException("kevent(EV_ADD)", -result, kq);
        }
        return changes.result(0) == 0
                ? new UserEvent(calls, flavour, kq)
                : SelfPipe.open(calls, flavour, changes);
    }

    /// An event of our own, triggered by a call on the queue itself; delivering it takes it back.
    final class UserEvent implements KqueueWakeup {
        private final KqueueCalls calls;
        private final int kq;
        private final MemorySegment trigger;

        private UserEvent(KqueueCalls calls, KqueueFlavour flavour, int kq) {
            this.calls = calls;
            this.kq = kq;
            trigger = Memory.allocate(flavour.sizeofKevent());
            // The kernel replaces what the event carries by what the trigger carries: the same.
            Kevent.put(trigger.address(), 0, flavour.userFilter(), 0, Kevent.NOTE_TRIGGER, 0, 0);
        }

        @Override
        public String call() {
            return "kevent(NOTE_TRIGGER)";
        }

        @Override
        public int fd() {
            return kq;
        }

        @Override
        public int trigger() {
            return Math.min(0, calls.kevent(kq, trigger.address(), 1, 0, 0, 0));
        }

        @Override
        public boolean isTheQueue() {
            return true;
        }

        @Override
        public boolean drain(KqueueCalls calls) {
            return true;
        }

        @Override
        public void close() {
            int _ = calls.close(kq);
        }
    }

    /// Where there is no such event: a pipe, watched for as long as there is something in it.
    final class SelfPipe implements KqueueWakeup {
        private static final int DRAIN_BYTES = 64;

        private final KqueueCalls calls;
        private final int reader;
        private final int writer;
        private final MemorySegment written = Memory.allocate(Long.BYTES);

        // Loop thread only.
        private final MemorySegment read = Memory.allocate(DRAIN_BYTES);
        private boolean failing;

        private SelfPipe(KqueueCalls calls, int reader, int writer) {
            this.calls = calls;
            this.reader = reader;
            this.writer = writer;
        }

        static SelfPipe open(KqueueCalls calls, KqueueFlavour flavour, ChangeList changes) {
            FdPair pair = new FdPair();
            require("pipe", calls.pipe(pair.address()), SystemCallException.NO_FD);
            SelfPipe pipe = new SelfPipe(calls, pair.first(), pair.second());
            try {
                for (int fd : new int[] {pipe.reader, pipe.writer}) {
                    require("fcntl", calls.fcntl(fd, Kevent.F_SETFD, Kevent.FD_CLOEXEC), fd);
                    require("fcntl", calls.fcntl(fd, Kevent.F_SETFL, flavour.nonBlocking()), fd);
                }
                int flags = Kevent.EV_ADD | Kevent.EV_ENABLE;
                changes.clear().put(pipe.reader, Kevent.EVFILT_READ, flags, 0, pipe.reader);
                int result = changes.submit();
                require("kevent(EV_ADD)", result < 0 ? result : changes.result(0), pipe.reader);
                return pipe;
            } catch (Throwable e) {
                pipe.close();
                throw e;
            }
        }

        private static void require(String call, int result, int fd) {
            if (result < 0) {
                throw new SystemCallException(call, -result, fd);
            }
        }

        @Override
        public String call() {
            return "write(pipe)";
        }

        @Override
        public int fd() {
            return writer;
        }

        @Override
        public int trigger() {
            long result = calls.write(writer, written.address(), 1);
            // Full: the loop has more than one to hear already.
            return result == -Errno.EAGAIN ? 0 : (int) Math.min(0, result);
        }

        @Override
        public boolean isTheQueue() {
            return false;
        }

        @Override
        public boolean drain(KqueueCalls calls) {
            long result;
            do {
                result = calls.read(reader, read.address(), DRAIN_BYTES);
            } while (result == DRAIN_BYTES || result == -Errno.EINTR);
            boolean drained = result > 0 || result == -Errno.EAGAIN;
            // Logged once per episode: the kernel reports the pipe again until it is drained.
            // EBADF means that the loop is being closed.
            if (!drained && !failing && result != -Errno.EBADF) {
                LOG.log(
                        Level.ERROR,
                        "the pipe that wakes the loop could not be drained",
                        new SystemCallException(
                                "read(pipe)", result == 0 ? Errno.EPIPE : (int) -result, reader));
            }
            failing = !drained;
            return drained;
        }

        @Override
        public void close() {
            int _ = calls.close(reader);
            int _ = calls.close(writer);
        }
    }
}
