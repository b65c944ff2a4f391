import dev.gyre.EventLoop;

void main() {
    try (var loop = EventLoop.open()) {
        loop.every(Duration.ofMillis(100), timer -> IO.println("tick"));
        loop.after(Duration.ofMillis(550), timer -> loop.stop());
        loop.run();
    }
}
