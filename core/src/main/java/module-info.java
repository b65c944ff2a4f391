/// Gyre's core: the event loop and the operating system beneath it, with no runtime dependency.
@SuppressWarnings("module") // those exported to are built after the core, which cannot see them yet
module dev.gyre {
    requires static org.jspecify; // not transitive, or users would need it: docs/adr/0005
    requires jdk.unsupported; // sun.misc.Signal, the only way to the JVM's own signal handler

    exports dev.gyre;
    exports dev.gyre.io;
    exports dev.gyre.io.operation;
    exports dev.gyre.metrics;
    exports dev.gyre.os;

    // `gyre doctor` asks the kernel itself which calls it allows and what its limits are.
    exports dev.gyre.internal.sys to
            dev.gyre.cli,
            dev.gyre.testkit;

    // The simulated kernel is a backend like any other, only in a module of its own.
    exports dev.gyre.internal.base to
            dev.gyre.testkit;
    exports dev.gyre.internal.backend to
            dev.gyre.testkit;
    exports dev.gyre.internal.io to
            dev.gyre.testkit;
    exports dev.gyre.internal.loop to
            dev.gyre.testkit;
}
