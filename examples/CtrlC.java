/// A graceful Ctrl-C: the current batch is completed. A second Ctrl-C stops at once.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.ShutdownReport;
import dev.gyre.os.Signals;

int batchSize = 1_000_000; // Or the first argument.
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
        IO.println("finishing; press Ctrl-C again to stop now");
        loop.shutdown(Duration.ofSeconds(30)).thenAccept(this::printReport);
    } else {
        loop.close();
    }
}

/// Does one step per tick, until a batch is done and the loop is shutting down.
void work(EventLoop loop) {
    done++;
    if (done % batchSize != 0 || loop.state() == LoopState.RUNNING) {
        loop.defer(() -> work(loop)); // In the next tick, after signals.
    }
}

void printReport(ShutdownReport report) {
    boolean whole = done % batchSize == 0;
    IO.println((report.graceful() ? "finished" : "dropped") + (whole ? ", whole" : ", in pieces"));
}
