/// A graceful Ctrl-C: the batch that was begun is finished. A second Ctrl-C ends at once.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.ShutdownReport;
import dev.gyre.os.Signals;

int batchSize = 1_000_000; // Or as the first argument says.
int done;

void main(String[] arguments) {
    if (arguments.length > 0) {
        batchSize = Integer.parseInt(arguments[0]);
    }
    try (var loop = EventLoop.open()) {
        Signals.on(loop, SIGINT, SIGTERM, signal -> end(loop));
        loop.submit(() -> work(loop));
        IO.println("working");
        loop.run();
    }
}

void end(EventLoop loop) {
    if (loop.state() == LoopState.RUNNING) {
        IO.println("finishing; once more ends at once");
        loop.shutdown(Duration.ofSeconds(30)).thenAccept(this::tell);
    } else {
        loop.close();
    }
}

/// One piece of the work, and then the next, until a batch is done and the loop is to end.
void work(EventLoop loop) {
    done++;
    if (done % batchSize != 0 || loop.state() == LoopState.RUNNING) {
        loop.defer(() -> work(loop)); // In the next turn: signals have theirs before it.
    }
}

void tell(ShutdownReport report) {
    boolean whole = done % batchSize == 0;
    IO.println((report.graceful() ? "finished" : "dropped") + (whole ? ", whole" : ", in pieces"));
}
