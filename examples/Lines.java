/// Standard input on the loop, line by line. Try it with a terminal, a pipe and a file.
import dev.gyre.EventLoop;
import dev.gyre.os.StandardInput;

void main() {
    try (var loop = EventLoop.open()) {
        StandardInput.lines(
                loop,
                line -> IO.println(line.toUpperCase(Locale.ROOT)),
                () -> IO.println("end of input"));
        loop.runUntilEmpty();
    }
}
