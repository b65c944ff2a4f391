package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.sys.Errno;
import dev.gyre.io.Descriptor;

import java.io.PrintWriter;

/// Standard output, with a callback for when its reader is gone.
///
/// A failed write reveals that too, but there may be no write for hours: `gyre watch . | head -1`
/// must exit together with `head`.
final class StandardOutput {
    private static final int FD = 1;

    private final Descriptor output =
            Descriptor.borrow(FD); // keeps it reachable; the watcher does not
    private final PrintWriter out;
    private final Runnable onGone;

    private StandardOutput(PrintWriter out, Runnable onGone) {
        this.out = out;
        this.onGone = onGone;
    }

    /// @param onGone may run more than once
    static StandardOutput watch(EventLoop loop, PrintWriter out, Runnable onGone) {
        StandardOutput end = new StandardOutput(out, onGone);
        try {
            // Edge-triggered: keys that are typed at a terminal stay unread.
            WatchSpec watch = WatchSpec.reading(end::onReady).edgeTriggered();
            Watcher _ = loop.watch(end.output, watch).unreference();
        } catch (SystemCallException e) {
            // A regular file (EPERM) or a closed descriptor (EBADF) has no reader.
            if (e.errno() != Errno.EPERM && e.errno() != Errno.EBADF) {
                throw e;
            }
        }
        return end;
    }

    private void onReady(Watcher watcher) {
        if (watcher.isError() || watcher.isHangUp()) {
            onGone.run();
        }
    }

    /// Writes a line at once.
    void println(String line) {
        out.println(line);
        // Both: the writer does not see errors that the stream below it swallows.
        if (out.checkError() || System.out.checkError()) {
            onGone.run();
        }
    }
}
