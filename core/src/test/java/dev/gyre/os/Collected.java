package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.WatchSpec;
import dev.gyre.io.Descriptor;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Collects the bytes of a descriptor, read by a loop until its end.
final class Collected {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    private boolean ended;

    static Collected from(EventLoop loop, Descriptor source) {
        Collected collected = new Collected();
        loop.watch(source, WatchSpec.reading(watcher -> collected.take(source)));
        return collected;
    }

    private void take(Descriptor source) {
        int count = source.read(buffer.clear());
        if (count == Descriptor.END) {
            ended = true;
            source.close();
        } else {
            bytes.write(buffer.array(), 0, count);
        }
    }

    boolean ended() {
        return ended;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    List<String> lines() {
        return text().lines().toList();
    }
}
