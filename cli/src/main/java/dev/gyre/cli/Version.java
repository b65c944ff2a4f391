package dev.gyre.cli;

import picocli.CommandLine.IVersionProvider;

import java.util.Optional;

/// The versions of Gyre, the JVM and the system, as a bug report needs them.
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {
            "gyre " + ofGyre(),
            "JVM    " + System.getProperty("java.vm.name") + " " + Runtime.version(),
            "System "
                    + System.getProperty("os.name")
                    + " "
                    + System.getProperty("os.version")
                    + " "
                    + System.getProperty("os.arch")
        };
    }

    /// Reads the version that the build stamps into the module descriptor, which is absent on a
    /// class path.
    private static String ofGyre() {
        return Optional.ofNullable(Version.class.getModule().getDescriptor())
                .flatMap(descriptor -> descriptor.rawVersion())
                .orElse("(not packaged)");
    }
}
