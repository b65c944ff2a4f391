package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.sys.Errno;
import dev.gyre.io.Descriptor;

import java.io.PrintWriter;

/// Where standard output goes, and whether anybody is left to read it.
///
/// A write that fails tells too, but there may be none for hours: `gyre watch . | head -1` is to end
/// with `head`.
final class OutputEnd {
    private static final int FD = 1;

    private final Descriptor output = Descriptor.borrow(FD); // held for the watcher, which does not
    private final PrintWriter out;
    private final Runnable onGone;

    private OutputEnd(PrintWriter out, Runnable onGone) {
        this.out = out;
        this.onGone = onGone;
    }

    /// @param onGone may run more than once
    static OutputEnd watch(EventLoop loop, PrintWriter out, Runnable onGone) {
        OutputEnd end = new OutputEnd(out, onGone);
        try {
            // Edge-triggered: keys that are typed at a terminal stay unread.
            WatchSpec watch = WatchSpec.reading(end::look).edgeTriggered();
            Watcher _ = loop.watch(end.output, watch).unreference();
        } catch (SystemCallException e) {
            // Neither a file, which cannot be polled, nor one that is not open has a reader to
            // lose.
            if (e.errno() != Errno.EPERM && e.errno() != Errno.EBADF) {
                throw e;
            }
        }
        return end;
    }

    private void look(Watcher watcher) {
        if (watcher.isError() || watcher.isHangUp()) {
            onGone.run();
        }
    }

    /// Writes a line at once.
    void println(String line) {
        out.println(line);
        // Both: the writer does not hear of what the stream below it swallows.
        if (out.checkError() || System.out.checkError()) {
            onGone.run();
        }
    }
}
