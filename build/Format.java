/// Checks the formatting of the repository, or applies it to the Java sources:
/// `java build/Format.java check|apply ROOT FORMATTER`.
///
/// The root pom runs it with the JDK that compiles the sources. google-java-format parses with the
/// javac it runs on, and Maven's own JDK may be too old for the syntax. The formatter gets its own
/// JVM, because its jar's manifest opens the javac packages it needs only if the jar is started.
///
/// It also checks the length of lines, which google-java-format leaves alone in comments and
/// strings. A line has at most 100 columns, unless it
/// - cannot be broken, because it has no space after its indentation and list or comment marker,
///   as a link, an import or an entry of a generated list of tests;
/// - is a row of a Markdown table, or inside a fenced code block of a Markdown file.
void main(String[] args) throws Exception {
    boolean apply = args[0].equals("apply");
    Path root = Path.of(args[1]);
    Path formatter = Path.of(args[2]);

    // Files that passed are checked again only after a change of the file, the formatter or this
    // program.
    Path stamp = formatter.resolveSibling(formatter.getFileName() + ".passed");
    FileTime start = FileTime.from(Instant.now());
    FileTime passed = modified(stamp);
    if (modified(root.resolve("build/Format.java")).compareTo(passed) >= 0) {
        passed = FileTime.fromMillis(0);
    }
    List<String> sources = filesSince(passed, root, JAVA);
    boolean formatted = sources.isEmpty() || run(apply, sources, root, formatter);

    List<String> measured = new ArrayList<>(filesSince(passed, root, MARKDOWN));
    sources.stream()
            .filter(source -> MEASURED_JAVA.stream().anyMatch(source::startsWith))
            .forEach(measured::add);
    boolean fits = checkLines(measured, root);

    if (!formatted || !fits) {
        System.err.println("To build without this check, add -Dgyre.format.skip.");
        System.exit(1);
    }
    Files.write(stamp, new byte[0]);
    Files.setLastModifiedTime(stamp, start);
}

static final int MAX_COLUMNS = 100;

static final String JAVA =
        "{*/src/**.java,integrations/*/src/**.java,examples/*.java,build/*.java}";

/// The Java sources whose lines are measured.
static final List<String> MEASURED_JAVA =
        List.of(
                "core/src/main/",
                "testkit/src/main/",
                "http/src/main/",
                "http-testkit/src/main/",
                "integrations/jackson/src/main/",
                "integrations/micrometer/src/main/",
                "cli/src/main/");

static final String MARKDOWN = "{*.md,*/*.md,docs/**.md,*/src/**.md}";

/// Limits the length of Maven's error message.
static final int MAX_REPORTED = 50;

static final Pattern UNBREAKABLE =
        Pattern.compile("\\s*(///?|\\*|[-+*>]|\\d+\\.)?\\s*(import (static )?)?\\S*\\s*");

boolean run(boolean apply, List<String> sources, Path root, Path formatter) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-jar", formatter.toString(), "--aosp"));
    // Doc comments are laid out by hand: tables, diagrams, one line per thought.
    command.add("--skip-javadoc-formatting");
    command.add(apply ? "--replace" : "--dry-run");
    command.addAll(sources);

    var builder = new ProcessBuilder(command).directory(root.toFile());
    var process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    List<String> unformatted = process.inputReader().readAllLines();
    if (!unformatted.isEmpty()) {
        System.err.println("Not formatted:");
        unformatted.forEach(file -> System.err.println("  " + file));
        System.err.println("Format them with: mvn -q -N -Pformat validate");
    }
    return process.waitFor() == 0 && unformatted.isEmpty();
}

/// Returns whether all lines fit, and reports those that do not.
boolean checkLines(List<String> files, Path root) throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (String file : files) {
        boolean markdown = file.endsWith(".md");
        boolean fenced = false;
        int number = 0;
        for (String line : Files.readAllLines(root.resolve(file))) {
            number++;
            if (markdown && line.strip().startsWith("```")) {
                fenced = !fenced;
            }
            int columns = line.codePointCount(0, line.length());
            boolean exempt = markdown && (fenced || line.startsWith("|"));
            if (columns > MAX_COLUMNS && !exempt && !UNBREAKABLE.matcher(line).matches()) {
                tooLong.add("  " + file + ":" + number + ": " + columns + " columns");
            }
        }
    }
    if (!tooLong.isEmpty()) {
        System.err.println("Lines with more than " + MAX_COLUMNS + " columns:");
        tooLong.stream().limit(MAX_REPORTED).forEach(System.err::println);
        if (tooLong.size() > MAX_REPORTED) {
            System.err.println("  and " + (tooLong.size() - MAX_REPORTED) + " more");
        }
        System.err.println("Break each of them at a space.");
    }
    return tooLong.isEmpty();
}

/// Returns the paths, relative to the root, of the files modified at that time or later.
List<String> filesSince(FileTime time, Path root, String glob) throws IOException {
    PathMatcher wanted = FileSystems.getDefault().getPathMatcher("glob:" + glob);
    BiPredicate<Path, BasicFileAttributes> match =
            (path, attributes) ->
                    attributes.isRegularFile()
                            && attributes.lastModifiedTime().compareTo(time) >= 0
                            && wanted.matches(root.relativize(path));
    try (var files = Files.find(root, Integer.MAX_VALUE, match)) {
        return files.map(path -> root.relativize(path).toString()).sorted().toList();
    }
}

FileTime modified(Path file) throws IOException {
    return Files.exists(file) ? Files.getLastModifiedTime(file) : FileTime.fromMillis(0);
}
