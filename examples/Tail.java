/// Prints a file and appended text, until Ctrl-C. Follows the name: after a rotation or truncation
/// it prints the new contents.
import dev.gyre.EventLoop;
import dev.gyre.os.FileWatch;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;

final EventLoop loop = EventLoop.open();
final ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
Path path;
FileChannel file; // The open file,
Object key; // and its identity.

void main(String[] arguments) {
    path = Path.of(arguments[0]);
    try (loop) {
        Signals.on(loop, Signal.SIGINT, Signal.SIGTERM, signal -> loop.stop());
        FileWatch.on(loop, path, change -> readNewLines()); // Every kind of change, OVERFLOW too.
        loop.defer(this::readNewLines);
        loop.run();
    }
}

void readNewLines() {
    try {
        if (file == null || !file.isOpen()) {
            open();
        } else if (print()) {
            loop.defer(this::readNewLines); // One piece per tick, so Ctrl-C is prompt.
        } else if (!key.equals(named())) {
            file.close();
            open();
        }
    } catch (NoSuchFileException _) {
        // The file is missing; its next creation is reported.
    } catch (IOException e) {
        throw new UncheckedIOException(e);
    }
}

boolean print() throws IOException {
    file.position(file.size() < file.position() ? 0 : file.position()); // 0: it was truncated.
    int count = file.read(buffer.clear());
    System.out.write(buffer.array(), 0, Math.max(count, 0));
    System.out.flush();
    return count > 0;
}

void open() throws IOException {
    key = named();
    file = FileChannel.open(path);
    if (!key.equals(named())) {
        file.close(); // Rotated in between: the key may belong to another file.
    }
    loop.defer(this::readNewLines);
}

Object named() throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
}
