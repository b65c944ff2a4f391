package dev.gyre.cli;

import picocli.CommandLine.IVersionProvider;

import java.util.Optional;

/// What a report of a bug should start with: the versions of Gyre, of the JVM and of the system.
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

    /// The build stamps the project's version into the module descriptor; on a class path nobody reads it.
    private static String ofGyre() {
        return Optional.ofNullable(Version.class.getModule().getDescriptor())
                .flatMap(descriptor -> descriptor.rawVersion())
                .orElse("(not packaged)");
    }
}
