package dev.gyre.internal.promise;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.metrics.LoopObserver;

import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;

/// Drops a pending promise of a busy loop, and reports whether the collector reclaims it.
final class DroppedPromiseProgram {
    private static final int COLLECTIONS = 10;

    private DroppedPromiseProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        LoopConfig silent = LoopConfig.DEFAULT.withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(silent)) {
            Thread runner = Thread.ofPlatform().start(loop::run);
            WeakReference<Promise<?>> dropped = drop(loop);
            loop.submit(
                    new Runnable() {
                        @Override
                        public void run() {
                            loop.submit(this);
                        }
                    });
            for (int i = 0; i < COLLECTIONS && !dropped.refersTo(null); i++) {
                System.gc();
            }
            System.out.println(dropped.refersTo(null) ? "collected" : "kept");
            loop.stop();
            runner.join();
        }
    }

    private static WeakReference<Promise<?>> drop(EventLoop loop) {
        CompletableFuture<WeakReference<Promise<?>>> made = new CompletableFuture<>();
        loop.submit(() -> made.complete(new WeakReference<>(loop.deferred().promise())));
        return made.join();
    }
}
