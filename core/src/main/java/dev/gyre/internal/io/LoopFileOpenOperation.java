package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.FileOpenOperation;

import org.jspecify.annotations.Nullable;

import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.function.Consumer;

public final class LoopFileOpenOperation extends LoopOperation implements FileOpenOperation {
    /// The file of the last completion until the user takes it. Loop thread only.
    private @Nullable OpenDescriptor opened;

    LoopFileOpenOperation(
            LoopOperations operations, OperationPools.Pool<LoopFileOpenOperation> pool) {
        super(operations, pool);
    }

    public LoopFileOpenOperation of(
            Path path, Consumer<? super FileOpenOperation> callback, OpenOption... options) {
        int flags = FileOpens.flags(options);
        init(Opcode.FILE_OPEN, null, callback);
        NativeBytes name = FileOpens.cString(path);
        request.memory = name;
        request.address = name.address();
        request.flags = flags;
        request.length = FileOpens.NEW_FILE_MODE;
        return this;
    }

    @Override
    void settle() {
        discard(); // A promised start may have left its file.
        if (request.result >= 0) {
            opened =
                    OpenDescriptor.fresh(operations.syscalls.kernels(), (int) request.result, true);
        }
    }

    @Override
    void discard() {
        if (opened != null) {
            opened.close();
            opened = null;
        }
    }

    @Override
    void forget() {
        request.memory = null;
    }

    @Override
    public Descriptor opened() {
        operations.context.requireConfined("opened");
        OpenDescriptor file = opened;
        if (file == null) {
            throw new IllegalStateException(
                    this + " opened no file, or opened() was called before");
        }
        opened = null;
        return file;
    }
}
