package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls.FdPair;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;

/// Wakes a loop over kqueue. Its event has generation zero, and is reported until it is
/// [drained][#drain].
abstract sealed class KqueueWakeup extends Wakeup {
    /// Returns whether closing the wake-up closes the queue, because both share a descriptor.
    abstract boolean ownsQueue();

    /// Drains the wake-up after its event was reported. Loop thread only.
    ///
    /// @param calls those of the loop thread
    /// @return whether the wake-up is drained; if false, the event is reported again
    abstract boolean drain(KqueueCalls calls);

    /// Opens a user event if the kernel has them, else a pipe.
    ///
    /// @param calls an instance for the wake-up alone
    static KqueueWakeup open(KqueueCalls calls, KqueueFlavour flavour, int kq) {
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

    /// An `EVFILT_USER` event, triggered on the queue itself. Reporting it clears it.
    private static final class UserEvent extends KqueueWakeup {
        private final KqueueCalls calls;
        private final int kq;
        private final MemorySegment trigger;

        private UserEvent(KqueueCalls calls, KqueueFlavour flavour, int kq) {
            this.calls = calls;
            this.kq = kq;
            trigger = Memory.allocate(flavour.sizeofKevent());
            // The udata of a trigger replaces that of the event: both are zero.
            Kevent.put(trigger.address(), 0, flavour.userFilter(), 0, Kevent.NOTE_TRIGGER, 0, 0);
        }

        @Override
        public int fd() {
            return kq;
        }

        @Override
        protected String call() {
            return "kevent(NOTE_TRIGGER)";
        }

        @Override
        protected int trigger() {
            return Math.min(0, calls.kevent(kq, trigger.address(), 1, 0, 0, 0));
        }

        @Override
        boolean ownsQueue() {
            return true;
        }

        @Override
        boolean drain(KqueueCalls calls) {
            return true;
        }

        @Override
        protected void release() {
            int _ = calls.close(kq);
        }
    }

    /// A pipe whose reader is watched level-triggered, on systems without user events.
    private static final class SelfPipe extends KqueueWakeup {
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
        public int fd() {
            return writer;
        }

        @Override
        protected String call() {
            return "write(pipe)";
        }

        @Override
        protected int trigger() {
            long result = calls.write(writer, written.address(), 1);
            // A full pipe already wakes the loop.
            return result == -Errno.EAGAIN ? 0 : (int) Math.min(0, result);
        }

        @Override
        boolean ownsQueue() {
            return false;
        }

        @Override
        boolean drain(KqueueCalls calls) {
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
        protected void release() {
            int _ = calls.close(reader);
            int _ = calls.close(writer);
        }
    }
}
