package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.FileOpenOperation;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Consumer;

/// Opens a file.
public final class LoopFileOpen extends LoopOperation implements FileOpenOperation {
    private @Nullable OpenDescriptor opened;

    LoopFileOpen(LoopOperations operations) {
        super(operations);
    }

    public LoopFileOpen of(
            Path path, int flags, int mode, Consumer<? super FileOpenOperation> callback) {
        become(
                Opcode.FILE_OPEN,
                null,
                (Operation done) -> callback.accept((FileOpenOperation) done));
        NativeBytes name = cString(path);
        request.memory = name;
        request.address = name.address();
        request.flags = flags;
        request.length = mode;
        return this;
    }

    static NativeBytes cString(Path path) {
        byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
        NativeBytes name = NativeBytes.allocate(bytes.length + 1L);
        name.put(0, bytes, 0, bytes.length);
        return name;
    }

    @Override
    void prepare() {}

    @Override
    void settle() {
        discard(); // One that was promised and never taken.
        opened =
                request.result < 0
                        ? null
                        : OpenDescriptor.fresh(
                                operations.seam.kernels(), (int) request.result, true);
    }

    @Override
    void finished() {
        discard(); // Nobody took it, so nobody would close it.
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
        discard();
    }

    @Override
    void returnTo(OperationPools pools) {
        pools.give(this);
    }

    @Override
    public Descriptor opened() {
        operations.host.requireConfined("opened");
        OpenDescriptor file = opened;
        if (file == null) {
            throw new IllegalStateException("no file was opened, or it was taken: " + this);
        }
        opened = null;
        return file;
    }
}
