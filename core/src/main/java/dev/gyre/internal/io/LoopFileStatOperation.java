package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.operation.FileStatOperation;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.time.Instant;
import java.util.function.Consumer;

public final class LoopFileStatOperation extends LoopOperation implements FileStatOperation {
    private final NativeBytes found = NativeBytes.allocate(Linux.SIZEOF_STATX);

    LoopFileStatOperation(
            LoopOperations operations, OperationPools.Pool<LoopFileStatOperation> pool) {
        super(operations, pool);
    }

    public LoopFileStatOperation of(Path path, Consumer<? super FileStatOperation> callback) {
        return of(null, path, 0, callback);
    }

    public LoopFileStatOperation of(
            OpenDescriptor file, Consumer<? super FileStatOperation> callback) {
        return of(file, Path.of(""), Linux.AT_EMPTY_PATH, callback);
    }

    private LoopFileStatOperation of(
            @Nullable OpenDescriptor file,
            Path path,
            int flags,
            Consumer<? super FileStatOperation> callback) {
        init(Opcode.FILE_STATUS, file, callback);
        NativeBytes name = FileOpens.cString(path);
        request.memory = name;
        request.address = name.address();
        request.address2 = found.address();
        request.flags = flags;
        return this;
    }

    @Override
    void prepare() {
        request.fd = descriptor == null ? Linux.AT_FDCWD : descriptor.lifetime().fd;
    }

    @Override
    void forget() {
        request.memory = null;
    }

    @Override
    public Status status() {
        operations.context.requireConfined("status");
        if (request.generation() == 0 || request.result < 0 || isPending()) {
            throw new IllegalStateException(this + " has no status: result " + request.result);
        }
        long at = found.address();
        long seconds = Memory.getLong(at + Linux.OFFSETOF_STATX_MTIME);
        int nanos = Memory.getInt(at + Linux.OFFSETOF_STATX_MTIME + Long.BYTES);
        return new Status(
                Memory.getLong(at + Linux.OFFSETOF_STATX_SIZE),
                Memory.getInt(at + Linux.OFFSETOF_STATX_MODE) & 0xffff,
                Memory.getLong(at + Linux.OFFSETOF_STATX_INO),
                Instant.ofEpochSecond(seconds, nanos));
    }
}
