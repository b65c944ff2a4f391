/// Checks or mends the formatting of the Java sources: `java build/Format.java check|apply ROOT FORMATTER`.
///
/// Run by the root pom under the JDK that compiles the sources, since google-java-format parses
/// with the javac it runs on: Maven's own JDK may be too old for the syntax. The formatter gets a
/// JVM of its own because its jar's manifest opens what it needs of javac only when it is the one
/// started.
void main(String[] args) throws Exception {
    boolean apply = args[0].equals("apply");
    Path root = Path.of(args[1]);
    Path formatter = Path.of(args[2]);

    // What was found in order is not looked at again until it is changed, or the formatter is.
    Path stamp = formatter.resolveSibling(formatter.getFileName() + ".passed");
    FileTime start = FileTime.from(Instant.now());
    FileTime passed =
            Files.exists(stamp) ? Files.getLastModifiedTime(stamp) : FileTime.fromMillis(0);
    List<String> sources = sourcesSince(passed, root);
    if (sources.isEmpty() || run(apply, sources, root, formatter)) {
        Files.write(stamp, new byte[0]);
        Files.setLastModifiedTime(stamp, start);
    } else {
        System.exit(1);
    }
}

boolean run(boolean apply, List<String> sources, Path root, Path formatter) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-jar", formatter.toString(), "--aosp"));
    // Doc comments are set by hand: tables, diagrams, one line a thought.
    command.add("--skip-javadoc-formatting");
    command.add(apply ? "--replace" : "--dry-run");
    command.addAll(sources);

    var builder = new ProcessBuilder(command).directory(root.toFile());
    var process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    List<String> unformatted = process.inputReader().readAllLines();
    if (!unformatted.isEmpty()) {
        System.err.println("Not formatted:");
        unformatted.forEach(file -> System.err.println("  " + file));
        System.err.println("Mend with: mvn -q -N -Pformat validate");
    }
    return process.waitFor() == 0 && unformatted.isEmpty();
}

/// The paths, relative to the root, of the sources modified at that time or later.
List<String> sourcesSince(FileTime time, Path root) throws IOException {
    String kinds = "glob:{*/src/**.java,examples/*.java,build/*.java}";
    PathMatcher wanted = FileSystems.getDefault().getPathMatcher(kinds);
    BiPredicate<Path, BasicFileAttributes> match =
            (path, attributes) ->
                    attributes.lastModifiedTime().compareTo(time) >= 0
                            && wanted.matches(root.relativize(path));
    try (var files = Files.find(root, Integer.MAX_VALUE, match)) {
        return files.map(path -> root.relativize(path).toString()).sorted().toList();
    }
}
